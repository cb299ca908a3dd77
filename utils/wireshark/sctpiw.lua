-- SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
--
-- Wireshark and tshark: DDP over SCTP (RFC 5043, RFC 6581), and what two sctpiw devices add to it (docs/wire.md).
--
--	tshark -X lua_script:sctpiw.lua -r FILE
--	or copy it to ~/.local/lib/wireshark/plugins/
--
-- SCTP user messages with payload protocol 17 are session control, which is dissected here. Those with 16 are
-- a DDP-SSN and a DDP segment, which Wireshark's own dissector of DDP and RDMAP takes. A UDP datagram is taken for
-- SCTP in UDP (RFC 6951) if one of its ports is also the SCTP port, as with sctpiw.
--
-- SCTP's dissector has no table of chunks and parameters that others could join. So those of docs/wire.md are
-- dissected when it is done with the packet, where its own fields say that they are.

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
local PRIVATE_MAX = 512

-- RDMAP messages (RFC 7306 6) that Wireshark does not know. Their 8 bytes stand behind the header.
local immediates = { [8] = "Immediate Data", [9] = "Immediate Data with SE" }
local SSN_LEN, DDP_UNTAGGED_LEN, IMMEDIATE_LEN = 2, 18, 8

-- docs/wire.md: RDMAP messages between two sctpiw devices.
local sends = { [12] = "Send with Immediate Data", [13] = "Send with SE and Immediate Data" }
local RECEIPT, RECEIPT_LEN = 15, 8
local QN_AT, QN_SRQ = 6, 1 -- the queue number of XRC has the number of an SRQ behind this octet
local IMM_AT = 2 -- in the header of a Send, where the Invalidate STag is

-- docs/wire.md: the parameter of INIT and INIT ACK, and the chunk that goes with a SACK.
local RECEIPTS, RECEIPTS_LEN = 0xbf57, 12
local HOLD, HOLD_LEN = 0xbe, 8

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
	receipts_srq_numbers = ProtoField.bool("ddp_sctp.receipts_srq_numbers", "SRQ numbers (N)", 8, nil, 0x01),
	srq_num = ProtoField.uint32("ddp_sctp.srq_num", "SRQ number", base.DEC),
	receipts_window = ProtoField.uint32("ddp_sctp.receipts_window", "Window of Sends", base.DEC),
	hold_ask = ProtoField.bool("ddp_sctp.hold_ask", "Asks for a SACK (A)", 8, nil, 0x02),
	hold_unsent = ProtoField.bool("ddp_sctp.hold_unsent", "The receipt has no TSN yet (U)", 8, nil, 0x01),
	hold_tsn = ProtoField.uint32("ddp_sctp.hold_tsn", "TSN (raw)", base.DEC),
}
proto.fields = f

local malformed = ProtoExpert.new("ddp_sctp.malformed", "Message of a wrong length", expert.group.MALFORMED,
	expert.severity.ERROR)
local unknown = ProtoExpert.new("ddp_sctp.unknown", "Unknown function code", expert.group.PROTOCOL,
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
		tree:add(f.private, tvb(offset))
		if code == TERMINATE or tvb:len() > 4 + PRIVATE_MAX then
			tree:add_proto_expert_info(malformed)
		end
	end
end

-- The message of 8 bytes that stands behind the header. Returns whether its length is right.
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

-- What a receipt says, in words.
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

-- RDMAP messages that Wireshark's dissector of DDP does not know.
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

-- A Proto is one dissector, so segments have a Proto of their own, whose name is never shown.
local segments = Proto("ddp_sctp_segment", "DDP Segment over SCTP")
proto.dissector = message(true)
segments.dissector = message(false)
DissectorTable.get("sctp.ppi"):add(PPID_CONTROL, proto)
DissectorTable.get("sctp.ppi"):add(PPID_DDP, segments)

-- Whether a datagram is SCTP in UDP (RFC 6951): at least one chunk, and one port that UDP and SCTP share.
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

-- The bytes of a chunk or parameter, of `len` bytes by its own account, as far as they are in the capture. `info` is
-- SCTP's field at its beginning.
local function bytes_of(info, len)
	local frame = info.source

	return frame(info.offset, math.min(math.max(len, info.len), frame:len() - info.offset))
end

local function length_of(info)
	local frame = info.source

	return info.offset + 4 <= frame:len() and frame(info.offset + 2, 2):uint() or 0
end

-- Begins the subtree of a chunk or parameter that `info` begins. Returns it, and the bytes if there are enough; if not,
-- the info column has its name alone.
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
	subtree:add(f.receipts_srq_numbers, range(7, 1))
	subtree:add(f.receipts_window, range(8, 4))
	pinfo.cols.info:append(" [Receipts " .. range(4, 1):uint() .. ", window " .. range(8, 4):uint() .. "]")
end

-- What a HOLD chunk says, in words. A and U together ask and hold.
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

-- A post-dissector is a Proto of its own, too, whose name is never shown.
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
		end
	end
end
register_postdissector(extension)
