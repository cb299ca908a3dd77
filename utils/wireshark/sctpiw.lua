-- SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
--
-- Wireshark and tshark: DDP over SCTP (RFC 5043, RFC 6581).
--
--	tshark -X lua_script:sctpiw.lua -r FILE
--	or copy it to ~/.local/lib/wireshark/plugins/
--
-- SCTP user messages with payload protocol 17 are session control, which is dissected here. Those with 16 are
-- a DDP-SSN and a DDP segment, which Wireshark's own dissector of DDP and RDMAP takes. A UDP datagram is taken for
-- SCTP in UDP (RFC 6951) if one of its ports is also the SCTP port, as with sctpiw.

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

local function dissect_immediate(tvb, pinfo, tree)
	local at = SSN_LEN + DDP_UNTAGGED_LEN
	local name

	if tvb:len() < at or tvb(SSN_LEN, 1):bitfield(0, 1) == 1 then
		return
	end
	name = immediates[tvb(SSN_LEN + 1, 1):bitfield(4, 4)]
	if not name then
		return
	end
	pinfo.cols.info:append(" [" .. name .. "]")
	tree:append_text(", " .. name)
	if tvb:len() > at then
		tree:add(f.immediate, tvb(at))
	end
	if tvb:len() ~= at + IMMEDIATE_LEN then
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
			dissect_immediate(tvb, pinfo, subtree)
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
