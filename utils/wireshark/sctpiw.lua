-- SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
--
-- Wireshark and tshark: DDP over SCTP (RFC 5043, RFC 6581), and its extensions between two sctpiw
-- devices (docs/wire.md).
--
--     tshark -X lua_script:sctpiw.lua -r FILE
--     or copy it to ~/.local/lib/wireshark/plugins/
--
-- SCTP user messages with payload protocol 17 are session control, which is dissected here. Those
-- with 16 are a DDP-SSN and a DDP segment, for Wireshark's own dissector of DDP and RDMAP.
-- Datagrams are an sctpiw chunk in an SCTP packet: those of UD queue pairs, the answers of their
-- receivers, and requests of rdma_cm. A UDP datagram is dissected as SCTP in UDP (RFC 6951) if one
-- of its ports is also the SCTP port, as with sctpiw. The same holds for the content of a DTLS
-- record, if `-o tls.keylog_file:FILE` names the key log of a process with SSLKEYLOGFILE=FILE.
--
-- SCTP's dissector has no table for additional chunks and parameters. So a post-dissector handles
-- those of docs/wire.md, and finds them by SCTP's own fields.

local PPID_DDP, PPID_CONTROL = 16, 17

local functions = {
	[1] = "Initiate",
	[2] = "Accept",
	[3] = "Reject",
	[4] = "Terminate",
	[5] = "Enhanced Initiate",
	[6] = "Enhanced Accept",
	[7] = "Enhanced Reject",
}
local ENHANCED_FIRST, ENHANCED_LAST, TERMINATE = 5, 7, 4
local INITIATE, ENHANCED_INITIATE, REJECT, ENHANCED_REJECT = 1, 5, 3, 7
local PRIVATE_MAX = 512

-- RDMAP messages (RFC 7306 6) that Wireshark does not know. Their 8 bytes follow the header.
local immediates = { [8] = "Immediate Data", [9] = "Immediate Data with SE" }
local SSN_LEN, DDP_UNTAGGED_LEN, IMMEDIATE_LEN = 2, 18, 8

-- docs/wire.md: RDMAP messages between two sctpiw devices.
local sends = { [12] = "Send with Immediate Data", [13] = "Send with SE and Immediate Data" }
local RECEIPT, RECEIPT_LEN = 15, 8
local QN_AT, QN_SRQ = 6, 1 -- with XRC, the SRQ number follows this octet of the queue number
local IMM_AT = 2 -- in the header of a Send, in place of the Invalidate STag

-- docs/wire.md: the parameter of INIT and INIT ACK, and the chunk that accompanies a SACK.
local RECEIPTS, RECEIPTS_LEN = 0xbf57, 12
local HOLD, HOLD_LEN = 0xbe, 8
-- An Address Parameter with an address of the sender that cannot be reached.
local AWAY, PARAM_IPV4, PARAM_IPV6 = 0xbc, 5, 6
local AWAY_LEN = { [PARAM_IPV4] = 12, [PARAM_IPV6] = 24 }

-- docs/wire.md: datagrams. Lengths are those of the chunk with its header, without payload or
-- private data.
local DATAGRAM, DATAGRAM_LEN, DATAGRAM_VERSION = 0xbd, 8, 1
local kinds = { [1] = "UD", [2] = "SIDR Request", [3] = "SIDR Reply", [4] = "Room Request",
	[5] = "Room Reply" }
local UD, REQUEST, ROOM_REQUEST = 1, 2, 4
local UD_LEN, SIDR_LEN, SIDR_MAX = 32, 36, 292
local least = { [1] = UD_LEN, [2] = SIDR_LEN, [3] = SIDR_LEN, [4] = 24, [5] = 20 }
local GROUP_QP = 0xffffff
local statuses = { [0] = "accepted", [1] = "nobody listens", [2] = "rejected", [255] = "challenge" }

-- docs/wire.md: the private data of queue pairs that are connected out of band.
local OOB, OOB_LEN = "sctpiwQP", 28
local reasons = {
	[0] = "none",
	[1] = "no QP",
	[2] = "connected to somebody else",
	[3] = "crossed",
	[4] = "another type",
}
local types = { [0] = "RC", [1] = "UC", [2] = "XRC" }

-- docs/wire.md: data of connection managers, before the private data.
local CM, CM_LEN = "sctpiwCM", 16
local cm_reasons = { [0] = "by the program, or none", [1] = "another type", [35] = "by the program, for ECE" }

local ddp = Dissector.get("iwarp_ddp_rdmap")
local sctp = Dissector.get("sctp")

local proto = Proto("ddp_sctp", "DDP Stream over SCTP")
local f = {
	ssn = ProtoField.uint16("ddp_sctp.ssn", "DDP-SSN", base.DEC),
	func = ProtoField.uint16("ddp_sctp.function", "Function Code", base.DEC, functions),
	peer = ProtoField.bool("ddp_sctp.peer_to_peer", "Peer-to-peer (A)", 16, nil, 0x8000),
	send = ProtoField.bool("ddp_sctp.rtr_send", "RTR by zero-length Send (B)", 16, nil, 0x4000),
	ird = ProtoField.uint16("ddp_sctp.ird", "IRD", base.DEC, nil, 0x3fff),
	write = ProtoField.bool("ddp_sctp.rtr_write", "RTR by zero-length RDMA Write (C)", 16, nil, 0x8000),
	read = ProtoField.bool("ddp_sctp.rtr_read", "RTR by zero-length RDMA Read (D)", 16, nil, 0x4000),
	ord = ProtoField.uint16("ddp_sctp.ord", "ORD", base.DEC, nil, 0x3fff),
	private = ProtoField.bytes("ddp_sctp.private_data", "Private Data"),
	immediate = ProtoField.bytes("ddp_sctp.immediate_data", "Immediate Data"),
	imm_data = ProtoField.uint32("ddp_sctp.imm_data", "Immediate Data of the Send", base.HEX),
	receipt_final = ProtoField.bool("ddp_sctp.receipt_final", "The last one of the session (F)", 8, nil, 0x02),
	receipt_waiting = ProtoField.bool("ddp_sctp.receipt_waiting", "Sends wait for a receive (W)", 8, nil, 0x01),
	receipt_ssn = ProtoField.uint16("ddp_sctp.receipt_ssn", "Next DDP-SSN", base.DEC),
	receipt_msn = ProtoField.uint32("ddp_sctp.receipt_msn", "MSN", base.DEC),
	receipts_version = ProtoField.uint8("ddp_sctp.receipts_version", "Version", base.DEC),
	receipts_asks = ProtoField.bool("ddp_sctp.receipts_asks", "Asks for SACKs (I)", 8, nil, 0x04),
	receipts_cm = ProtoField.bool("ddp_sctp.receipts_cm", "Messages of the connection manager (C)", 8, nil, 0x02),
	receipts_srq_numbers = ProtoField.bool("ddp_sctp.receipts_srq_numbers", "SRQ numbers (N)", 8, nil, 0x01),
	srq_num = ProtoField.uint32("ddp_sctp.srq_num", "SRQ number", base.DEC),
	receipts_window = ProtoField.uint32("ddp_sctp.receipts_window", "Window of Sends", base.DEC),
	hold_ask = ProtoField.bool("ddp_sctp.hold_ask", "Asks for a SACK (A)", 8, nil, 0x02),
	hold_unsent = ProtoField.bool("ddp_sctp.hold_unsent", "The receipt has no TSN yet (U)", 8, nil, 0x01),
	away_ipv4 = ProtoField.ipv4("ddp_sctp.away_ipv4", "Address"),
	away_ipv6 = ProtoField.ipv6("ddp_sctp.away_ipv6", "Address"),
	hold_tsn = ProtoField.uint32("ddp_sctp.hold_tsn", "TSN (raw)", base.DEC),
	datagram_version = ProtoField.uint8("ddp_sctp.datagram_version", "Version", base.DEC),
	datagram_kind = ProtoField.uint8("ddp_sctp.datagram_kind", "Kind", base.DEC, kinds),
	ud_with_imm = ProtoField.bool("ddp_sctp.ud_with_imm", "With immediate data (I)", 16, nil, 0x0002),
	ud_solicited = ProtoField.bool("ddp_sctp.ud_solicited", "Solicited event (S)", 16, nil, 0x0001),
	ud_dst_qp = ProtoField.uint32("ddp_sctp.ud_dst_qp", "Destination QP number", base.HEX),
	ud_src_qp = ProtoField.uint32("ddp_sctp.ud_src_qp", "Source QP number", base.HEX),
	ud_qkey = ProtoField.uint32("ddp_sctp.ud_qkey", "Q_Key", base.HEX),
	ud_imm_data = ProtoField.uint32("ddp_sctp.ud_imm_data", "Immediate data", base.HEX),
	ud_class = ProtoField.uint32("ddp_sctp.ud_traffic_class", "Traffic Class", base.HEX, nil, 0x0ff00000),
	ud_flow = ProtoField.uint32("ddp_sctp.ud_flow_label", "Flow Label", base.HEX, nil, 0x000fffff),
	ud_hops = ProtoField.uint8("ddp_sctp.ud_hop_limit", "Hop Limit", base.DEC),
	ud_payload = ProtoField.bytes("ddp_sctp.ud_payload", "Payload"),
	sidr_id = ProtoField.uint64("ddp_sctp.sidr_request_id", "Request ID", base.HEX),
	sidr_cookie = ProtoField.uint64("ddp_sctp.sidr_cookie", "Cookie", base.HEX),
	sidr_qp = ProtoField.uint32("ddp_sctp.sidr_qp", "QP number", base.HEX),
	sidr_qkey = ProtoField.uint32("ddp_sctp.sidr_qkey", "Q_Key", base.HEX),
	sidr_status = ProtoField.uint8("ddp_sctp.sidr_status", "Status", base.DEC, statuses),
	sidr_port = ProtoField.uint16("ddp_sctp.sidr_port", "Port", base.DEC),
	sidr_private_len = ProtoField.uint8("ddp_sctp.sidr_private_len", "Private Data Length", base.DEC),
	room_nonce = ProtoField.uint64("ddp_sctp.room_nonce", "Nonce", base.HEX),
	room_bytes = ProtoField.uint32("ddp_sctp.room", "Room", base.DEC),
	oob_version = ProtoField.uint8("ddp_sctp.oob_version", "Version", base.DEC),
	oob_reason = ProtoField.uint8("ddp_sctp.oob_reason", "Reason", base.DEC, reasons),
	oob_rnr_retry = ProtoField.uint8("ddp_sctp.oob_rnr_retry", "RNR retry", base.DEC),
	oob_type = ProtoField.uint8("ddp_sctp.oob_type", "Type of the QP", base.DEC, types),
	oob_src = ProtoField.uint32("ddp_sctp.oob_src_qp", "Source QP number", base.HEX),
	oob_dst = ProtoField.uint32("ddp_sctp.oob_dst_qp", "Destination QP number", base.HEX),
	oob_token = ProtoField.uint64("ddp_sctp.oob_token", "Token", base.HEX),
	cm_version = ProtoField.uint8("ddp_sctp.cm_version", "Version", base.DEC),
	cm_port = ProtoField.uint16("ddp_sctp.cm_port", "Port", base.DEC),
	cm_reason = ProtoField.uint8("ddp_sctp.cm_reason", "Reason", base.DEC, cm_reasons),
	cm_srq = ProtoField.bool("ddp_sctp.cm_srq", "SRQ", 8, nil, 0x80),
	cm_flow_control = ProtoField.bool("ddp_sctp.cm_flow_control", "Flow control", 8, nil, 0x40),
	cm_retry = ProtoField.uint8("ddp_sctp.cm_retry", "Retry count", base.DEC, nil, 0x38),
	cm_rnr_retry = ProtoField.uint8("ddp_sctp.cm_rnr_retry", "RNR retry count", base.DEC, nil, 0x07),
	cm_type = ProtoField.uint8("ddp_sctp.cm_type", "Type of the QP", base.DEC, types),
	cm_qp = ProtoField.uint24("ddp_sctp.cm_qp", "QP number", base.HEX),
}
proto.fields = f

local malformed = ProtoExpert.new("ddp_sctp.malformed", "Message of a wrong length", expert.group.MALFORMED,
	expert.severity.ERROR)
local unknown = ProtoExpert.new("ddp_sctp.unknown", "Unknown function code, version or kind", expert.group.PROTOCOL,
	expert.severity.WARN)
proto.experts = { malformed, unknown }

local function dissect_enhanced(tvb, tree)
	tree:add(f.peer, tvb(0, 2))
	tree:add(f.send, tvb(0, 2))
	tree:add(f.ird, tvb(0, 2))
	tree:add(f.write, tvb(2, 2))
	tree:add(f.read, tvb(2, 2))
	tree:add(f.ord, tvb(2, 2))
end

-- Dissects the private data of a QP that is connected out of band.
local function dissect_oob(tvb, pinfo, tree)
	if tvb:len() < OOB_LEN or tvb(0, #OOB):string() ~= OOB then
		return
	end
	tree:add(f.oob_version, tvb(8, 1))
	tree:add(f.oob_reason, tvb(9, 1))
	tree:add(f.oob_rnr_retry, tvb(10, 1))
	tree:add(f.oob_type, tvb(11, 1))
	tree:add(f.oob_src, tvb(12, 4))
	tree:add(f.oob_dst, tvb(16, 4))
	tree:add(f.oob_token, tvb(20, 8))
	pinfo.cols.info:append(string.format(" [%s QP 0x%06x to 0x%06x]", types[tvb(11, 1):uint()] or "?",
		tvb(12, 4):uint(), tvb(16, 4):uint()))
end

-- Dissects a connection manager's data. Returns its length within the private data.
local function dissect_cm(tvb, code, pinfo, tree)
	if tvb:len() < CM_LEN or tvb(0, #CM):string() ~= CM then
		return 0
	end
	tree:add(f.cm_version, tvb(8, 1))
	if code == INITIATE or code == ENHANCED_INITIATE then
		tree:add(f.cm_port, tvb(9, 2))
	elseif code == REJECT or code == ENHANCED_REJECT then
		tree:add(f.cm_reason, tvb(9, 1))
	end
	tree:add(f.cm_type, tvb(11, 1))
	tree:add(f.cm_srq, tvb(12, 1))
	tree:add(f.cm_flow_control, tvb(12, 1))
	tree:add(f.cm_retry, tvb(12, 1))
	tree:add(f.cm_rnr_retry, tvb(12, 1))
	tree:add(f.cm_qp, tvb(13, 3))
	pinfo.cols.info:append(string.format(" [%s id, QP 0x%06x]", types[tvb(11, 1):uint()] or "?", tvb(13, 3):uint()))
	return CM_LEN
end

-- Session control: RFC 5043 5.2.3, RFC 6581 9.
local function dissect_control(tvb, pinfo, tree)
	local code = tvb(2, 2):uint()
	local name = functions[code]
	local offset = 4

	tree:add(f.func, tvb(2, 2))
	tree:append_text(", " .. (name or "Function " .. code))
	pinfo.cols.info:append(" [DDP Session " .. (name or code) .. "]")
	if not name then
		tree:add_proto_expert_info(unknown)
	elseif code >= ENHANCED_FIRST and code <= ENHANCED_LAST then
		if tvb:len() < offset + 4 then
			tree:add_proto_expert_info(malformed)
			return
		end
		dissect_enhanced(tvb(offset, 4), tree)
		offset = offset + 4
	end
	if tvb:len() > offset then
		local cm_len = dissect_cm(tvb(offset), code, pinfo, tree)

		if tvb:len() > offset + cm_len then
			tree:add(f.private, tvb(offset + cm_len))
			dissect_oob(tvb(offset + cm_len), pinfo, tree)
		end
		if code == TERMINATE or tvb:len() > 4 + PRIVATE_MAX then
			tree:add_proto_expert_info(malformed)
		end
	end
end

-- Dissects the 8 bytes after the header. Returns true if the length is right.
local function dissect_immediate(tvb, tree)
	if tvb:len() > 0 then
		tree:add(f.immediate, tvb())
	end
	return tvb:len() == IMMEDIATE_LEN
end

local function dissect_receipt(tvb, tree)
	if tvb:len() < RECEIPT_LEN then
		return false
	end
	tree:add(f.receipt_final, tvb(0, 1))
	tree:add(f.receipt_waiting, tvb(0, 1))
	tree:add(f.receipt_ssn, tvb(2, 2))
	tree:add(f.receipt_msn, tvb(4, 4))
	return tvb:len() == RECEIPT_LEN
end

-- Returns the description of a receipt.
local function receipt_name(tvb)
	local name = "Receipt"

	if tvb:len() < RECEIPT_LEN then
		return name
	end
	if tvb(0, 1):bitfield(6, 1) == 1 then
		name = name .. ", final before DDP-SSN " .. tvb(2, 2):uint()
	end
	if tvb(0, 1):bitfield(7, 1) == 1 then
		name = name .. ", waiting from MSN " .. tvb(4, 4):uint()
	end
	return name
end

-- RDMAP messages that Wireshark's DDP dissector does not know.
local function dissect_rdmap(tvb, pinfo, tree)
	local at = SSN_LEN + DDP_UNTAGGED_LEN
	local opcode, name, body, good

	if tvb:len() < at or tvb(SSN_LEN, 1):bitfield(0, 1) == 1 then
		return
	end
	opcode = tvb(SSN_LEN + 1, 1):bitfield(4, 4)
	if tvb(SSN_LEN + QN_AT, 1):uint() == QN_SRQ then
		tree:add(f.srq_num, tvb(SSN_LEN + QN_AT + 1, 3))
		pinfo.cols.info:append(" [SRQ " .. tvb(SSN_LEN + QN_AT + 1, 3):uint() .. "]")
	end
	body = tvb(at):tvb()
	if sends[opcode] then
		name = sends[opcode]
		tree:add(f.imm_data, tvb(SSN_LEN + IMM_AT, 4))
		good = true
	elseif immediates[opcode] then
		name = immediates[opcode]
		good = dissect_immediate(body, tree)
	elseif opcode == RECEIPT then
		name = receipt_name(body)
		good = dissect_receipt(body, tree)
	else
		return
	end
	pinfo.cols.info:append(" [" .. name .. "]")
	tree:append_text(", " .. name)
	if not good then
		tree:add_proto_expert_info(malformed)
	end
end

local function message(control)
	return function(tvb, pinfo, tree)
		local subtree = tree:add(proto, tvb(0, control and tvb:len() or math.min(2, tvb:len())))

		pinfo.cols.protocol = "DDP"
		if tvb:len() < (control and 4 or 2) then
			subtree:add_proto_expert_info(malformed)
			return tvb:len()
		end
		subtree:add(f.ssn, tvb(0, 2))
		subtree:append_text(", DDP-SSN " .. tvb(0, 2):uint())
		if control then
			dissect_control(tvb, pinfo, subtree)
		else
			ddp:call(tvb(SSN_LEN):tvb(), pinfo, tree)
			dissect_rdmap(tvb, pinfo, subtree)
		end
		return tvb:len()
	end
end

-- A Proto has one dissector, so segments have a Proto of their own, whose name is never shown.
local segments = Proto("ddp_sctp_segment", "DDP Segment over SCTP")
proto.dissector = message(true)
segments.dissector = message(false)
DissectorTable.get("sctp.ppi"):add(PPID_CONTROL, proto)
DissectorTable.get("sctp.ppi"):add(PPID_DDP, segments)

-- True if a datagram is SCTP in UDP (RFC 6951), or in DTLS in UDP (RFC 8261) with secrets that
-- Wireshark has (tls.keylog_file). The datagram must have at least one chunk, and one port in
-- common with UDP.
local function in_udp(tvb, pinfo, tree)
	if tvb:len() < 16 then
		return false
	end
	if pinfo.src_port ~= tvb(0, 2):uint() and pinfo.dst_port ~= tvb(2, 2):uint() then
		return false
	end
	local chunk = tvb(14, 2):uint()
	if chunk < 4 or chunk > tvb:len() - 12 then
		return false
	end
	sctp:call(tvb, pinfo, tree)
	return true
end
proto:register_heuristic("udp", in_udp)
proto:register_heuristic("dtls", in_udp)

-- Returns the bytes of a chunk or parameter that are in the capture. `len` is its length field, and
-- `info` SCTP's field at its beginning.
local function bytes_of(info, len)
	local frame = info.source

	return frame(info.offset, math.min(math.max(len, info.len), frame:len() - info.offset))
end

local function length_of(info)
	local frame = info.source

	return info.offset + 4 <= frame:len() and frame(info.offset + 2, 2):uint() or 0
end

-- Begins the subtree of a chunk or parameter at `info`. Returns the subtree, and the bytes if they
-- are complete. Otherwise the info column has only the name.
local function begin(info, right, name, pinfo, tree)
	local len = length_of(info)
	local range = bytes_of(info, len)
	local subtree = tree:add(proto, range)

	subtree:append_text(", " .. name)
	if len ~= right then
		subtree:add_proto_expert_info(malformed)
	end
	if len >= right and range:len() >= right then
		return subtree, range
	end
	pinfo.cols.info:append(" [" .. name .. "]")
	return subtree, nil
end

local function dissect_receipts(info, pinfo, tree)
	local subtree, range = begin(info, RECEIPTS_LEN, "Receipts", pinfo, tree)

	if not range then
		return
	end
	subtree:add(f.receipts_version, range(4, 1))
	subtree:add(f.receipts_asks, range(7, 1))
	subtree:add(f.receipts_cm, range(7, 1))
	subtree:add(f.receipts_srq_numbers, range(7, 1))
	subtree:add(f.receipts_window, range(8, 4))
	pinfo.cols.info:append(" [Receipts " .. range(4, 1):uint() .. ", window " .. range(8, 4):uint() .. "]")
end

-- Returns the description of a HOLD chunk. With A and U, the chunk is a request and a hold.
local function hold_name(flags, tsn)
	local asks, unsent = flags:bitfield(6, 1) == 1, flags:bitfield(7, 1) == 1

	if unsent or not asks then
		return "HOLD " .. (unsent and "unsent" or "TSN=" .. tsn:uint()) .. (asks and ", asks for a SACK" or "")
	end
	return "HOLD asks for a SACK"
end

local function dissect_hold(info, pinfo, tree)
	local subtree, range = begin(info, HOLD_LEN, "HOLD", pinfo, tree)

	if not range then
		return
	end
	subtree:add(f.hold_ask, range(1, 1))
	subtree:add(f.hold_unsent, range(1, 1))
	subtree:add(f.hold_tsn, range(4, 4))
	pinfo.cols.info:append(" [" .. hold_name(range(1, 1), range(4, 4)) .. "]")
end

local function dissect_away(info, pinfo, tree)
	local range = bytes_of(info, length_of(info))
	local kind = range:len() >= 8 and range(4, 2):uint()
	local subtree

	subtree, range = begin(info, AWAY_LEN[kind] or AWAY_LEN[PARAM_IPV4], "AWAY", pinfo, tree)
	if not range then
		return
	end
	if kind == PARAM_IPV4 then
		subtree:add(f.away_ipv4, range(8, 4))
		pinfo.cols.info:append(" [AWAY " .. tostring(range(8, 4):ipv4()) .. "]")
	elseif kind == PARAM_IPV6 then
		subtree:add(f.away_ipv6, range(8, 16))
		pinfo.cols.info:append(" [AWAY " .. tostring(range(8, 16):ipv6()) .. "]")
	else
		subtree:add_proto_expert_info(malformed)
	end
end

local function qp_name(number)
	return number == GROUP_QP and "group" or string.format("0x%06x", number)
end

-- `range` is the chunk without padding. It has at least UD_LEN bytes. Returns the text for the info
-- column, and true if the chunk is valid.
local function dissect_ud(range, tree)
	local to, from = range(8, 4):uint(), range(12, 4):uint()
	local len = range:len() - UD_LEN

	tree:add(f.ud_with_imm, range(6, 2))
	tree:add(f.ud_solicited, range(6, 2))
	tree:add(f.ud_dst_qp, range(8, 4))
	tree:add(f.ud_src_qp, range(12, 4))
	tree:add(f.ud_qkey, range(16, 4))
	tree:add(f.ud_imm_data, range(20, 4))
	tree:add(f.ud_class, range(24, 4))
	tree:add(f.ud_flow, range(24, 4))
	tree:add(f.ud_hops, range(28, 1))
	if len > 0 then
		tree:add(f.ud_payload, range(UD_LEN, len))
	end
	return string.format("UD %s to %s, %d bytes", qp_name(from), qp_name(to), len), math.max(to, from) <= GROUP_QP
end

-- Does the same as dissect_ud(), for a chunk of at least SIDR_LEN bytes.
local function dissect_sidr(range, kind, tree)
	local status, private = range(32, 1):uint(), range(33, 1):uint()
	local name = kinds[kind]

	tree:add(f.sidr_id, range(8, 8))
	tree:add(f.sidr_cookie, range(16, 8))
	tree:add(f.sidr_qp, range(24, 4))
	tree:add(f.sidr_qkey, range(28, 4))
	tree:add(f.sidr_status, range(32, 1))
	tree:add(f.sidr_private_len, range(33, 1))
	tree:add(f.sidr_port, range(34, 2))
	if private > range:len() - SIDR_LEN then
		return name, false
	end
	if private > 0 then
		tree:add(f.private, range(SIDR_LEN, private))
	end
	if kind == REQUEST then
		return name, range:len() >= SIDR_MAX
	end
	return name .. ", " .. (statuses[status] or "status " .. status), range(24, 4):uint() <= GROUP_QP
end

-- Does the same as dissect_ud(), for a chunk that has the length of this kind.
local function dissect_room(range, kind, tree)
	tree:add(f.room_nonce, range(8, 8))
	if kind == ROOM_REQUEST then
		return kinds[kind], true
	end
	tree:add(f.room_bytes, range(16, 4))
	return string.format("%s, %d bytes", kinds[kind], range(16, 4):uint()), true
end

-- Returns the kind of a datagram's chunk if it is known and the chunk is long enough, else nil.
local function kind_of(range, subtree)
	local kind = range(5, 1):uint()

	if range(4, 1):uint() ~= DATAGRAM_VERSION or not kinds[kind] then
		subtree:add_proto_expert_info(unknown)
		return nil
	end
	if range:len() < least[kind] then
		subtree:add_proto_expert_info(malformed)
		return nil
	end
	return kind
end

local function dissect_datagram(info, pinfo, tree)
	local len = length_of(info)
	local range = bytes_of(info, len)
	local subtree = tree:add(proto, range)
	local name, sound, kind

	subtree:append_text(", Datagram")
	if len < DATAGRAM_LEN or range:len() < len then
		subtree:add_proto_expert_info(malformed)
		return
	end
	range = range(0, len)
	subtree:add(f.datagram_version, range(4, 1))
	subtree:add(f.datagram_kind, range(5, 1))
	kind = kind_of(range, subtree)
	if not kind then
		return
	end
	if kind == UD then
		name, sound = dissect_ud(range, subtree)
	elseif kind >= ROOM_REQUEST then
		name, sound = dissect_room(range, kind, subtree)
	else
		name, sound = dissect_sidr(range, kind, subtree)
	end
	if not sound then
		subtree:add_proto_expert_info(malformed)
	end
	pinfo.cols.info:append(" [" .. name .. "]")
end

-- A post-dissector needs a Proto of its own. The name of this Proto is never shown.
local chunk_type, parameter_type = Field.new("sctp.chunk_type"), Field.new("sctp.parameter_type")
local extension = Proto("ddp_sctp_receipts", "Receipts over SCTP")

function extension.dissector(tvb, pinfo, tree)
	for _, info in ipairs({ parameter_type() }) do
		if info.value == RECEIPTS then
			dissect_receipts(info, pinfo, tree)
		end
	end
	for _, info in ipairs({ chunk_type() }) do
		if info.value == HOLD then
			dissect_hold(info, pinfo, tree)
		elseif info.value == AWAY then
			dissect_away(info, pinfo, tree)
		elseif info.value == DATAGRAM then
			dissect_datagram(info, pinfo, tree)
		end
	end
end
register_postdissector(extension)
