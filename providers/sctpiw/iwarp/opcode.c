/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/opcode.h"

#define INFO(opcode, path, sender, completes, errors, place, deliver)                              \
	[opcode] = { IW_PATH_##path, IW_SENDER_##sender, IW_COMPLETES_##completes,                 \
		     IW_ERRORS_##errors },

#define ANSWER(opcode, path, sender, completes, errors, place, deliver)                            \
	[opcode] = {                                                                               \
		IW_SENDER_##sender == IW_SENDER_REQUESTER ? IW_PATH_NONE : IW_PATH_##path,         \
		IW_SENDER_##sender,                                                                \
		IW_COMPLETES_##completes,                                                          \
		IW_ERRORS_##errors,                                                                \
	},

const struct iw_rdmap_info iw_rdmap_table[16] = { IW_RDMAP_OPCODES(INFO) };
const struct iw_rdmap_info iw_rdmap_answers[16] = { IW_RDMAP_OPCODES(ANSWER) };

uint16_t iw_opcode_error(unsigned int opcode, enum iw_remote verdict)
{
	/* DDP has no code for a missing right; IW_REMOTE_ACCESS uses that of an invalid STag. */
	static const uint16_t ddp[] = {
		[IW_REMOTE_STAG] = TERM_DDP_STAG,     [IW_REMOTE_PD] = TERM_DDP_STREAM,
		[IW_REMOTE_ACCESS] = TERM_DDP_STAG,   [IW_REMOTE_WRAP] = TERM_DDP_WRAP,
		[IW_REMOTE_BOUNDS] = TERM_DDP_BOUNDS,
	};
	static const uint16_t rdmap[] = {
		[IW_REMOTE_STAG] = TERM_RDMAP_STAG,	[IW_REMOTE_PD] = TERM_RDMAP_STREAM,
		[IW_REMOTE_ACCESS] = TERM_RDMAP_ACCESS, [IW_REMOTE_WRAP] = TERM_RDMAP_WRAP,
		[IW_REMOTE_BOUNDS] = TERM_RDMAP_BOUNDS,
	};

	return iw_rdmap_table[opcode].errors == IW_ERRORS_DDP ? ddp[verdict] : rdmap[verdict];
}
