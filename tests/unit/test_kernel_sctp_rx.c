/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/* Data and events that a socket of the kernel's SCTP returns, without such a kernel. */
#include <arpa/inet.h>
#include <netinet/sctp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/kernel_sctp_rx.h"

#define SID 7
#define PPID 16

static uint8_t bytes[KERNEL_SCTP_RX_MESSAGE + 1];
static struct kernel_sctp_rx_message message;

static enum kernel_sctp_rx_verdict data(struct kernel_sctp_rx *rx, size_t offset, size_t len,
					bool last)
{
	_Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(struct sctp_rcvinfo))] = { 0 };
	struct sctp_rcvinfo info = { .rcv_sid = SID, .rcv_ppid = htonl(PPID) };
	struct msghdr msg = {
		.msg_control = control,
		.msg_controllen = sizeof(control),
		.msg_flags = last ? MSG_EOR : 0,
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = IPPROTO_SCTP;
	c->cmsg_type = SCTP_RCVINFO;
	c->cmsg_len = CMSG_LEN(sizeof(info));
	memcpy(CMSG_DATA(c), &info, sizeof(info));
	return kernel_sctp_rx_take(rx, &msg, bytes + offset, len, &message);
}

static enum kernel_sctp_rx_verdict event(struct kernel_sctp_rx *rx, const void *ev, size_t len)
{
	struct msghdr msg = { .msg_flags = MSG_NOTIFICATION | MSG_EOR };

	return kernel_sctp_rx_take(rx, &msg, ev, len, &message);
}

static enum kernel_sctp_rx_verdict change(struct kernel_sctp_rx *rx, uint16_t state)
{
	struct sctp_assoc_change ev = { .sac_type = SCTP_ASSOC_CHANGE, .sac_state = state };

	return event(rx, &ev, sizeof(ev));
}

static enum kernel_sctp_rx_verdict adaptation(struct kernel_sctp_rx *rx, uint32_t ind)
{
	struct sctp_adaptation_event ev = {
		.sai_type = SCTP_ADAPTATION_INDICATION,
		.sai_adaptation_ind = ind,
	};

	return event(rx, &ev, sizeof(ev));
}

static struct kernel_sctp_rx up(void)
{
	struct kernel_sctp_rx rx = { 0 };

	assert_int_equal(change(&rx, SCTP_COMM_UP), KERNEL_SCTP_RX_NOTHING);
	assert_int_equal(adaptation(&rx, 1), KERNEL_SCTP_RX_ESTABLISHED);
	return rx;
}

static void test_establishment(void **state)
{
	struct kernel_sctp_rx rx = { 0 };

	assert_int_equal(kernel_sctp_rx_idle(&rx), KERNEL_SCTP_RX_NOTHING);
	rx = up();
	assert_int_equal(kernel_sctp_rx_idle(&rx), KERNEL_SCTP_RX_NOTHING);
	/* Only once. */
	assert_int_equal(change(&rx, SCTP_COMM_UP), KERNEL_SCTP_RX_NOTHING);
	assert_int_equal(adaptation(&rx, 1), KERNEL_SCTP_RX_NOTHING);
}

/* RFC 5043 4.1: a peer must indicate DDP. */
static void test_adaptation(void **state)
{
	struct kernel_sctp_rx rx = { 0 };

	change(&rx, SCTP_COMM_UP);
	assert_int_equal(kernel_sctp_rx_idle(&rx), KERNEL_SCTP_RX_BROKEN);
	assert_int_equal(data(&rx, 0, 10, true), KERNEL_SCTP_RX_BROKEN);
	assert_int_equal(adaptation(&rx, 2), KERNEL_SCTP_RX_BROKEN);
	rx = (struct kernel_sctp_rx){ 0 };
	assert_int_equal(data(&rx, 0, 10, true), KERNEL_SCTP_RX_BROKEN);
}

static void test_messages(void **state)
{
	struct kernel_sctp_rx rx = up();

	assert_int_equal(data(&rx, 5, 100, true), KERNEL_SCTP_RX_GOT_MESSAGE);
	assert_int_equal(message.sid, SID);
	assert_int_equal(message.ppid, PPID);
	assert_ptr_equal(message.data, bytes + 5); /* its place in the buffer */
	assert_int_equal(message.len, 100);
	assert_null(rx.part);
}

static void test_pieces(void **state)
{
	struct kernel_sctp_rx rx = up();

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	assert_int_equal(data(&rx, 0, 1000, false), KERNEL_SCTP_RX_NOTHING);
	assert_int_equal(data(&rx, 1000, 2000, false), KERNEL_SCTP_RX_NOTHING);
	/* Events may come in between. */
	assert_int_equal(change(&rx, SCTP_COMM_UP), KERNEL_SCTP_RX_NOTHING);
	assert_int_equal(data(&rx, 3000, 1, true), KERNEL_SCTP_RX_GOT_MESSAGE);
	assert_int_equal(message.len, 3001);
	assert_memory_equal(message.data, bytes, 3001);
	/* The next message starts anew. */
	assert_int_equal(data(&rx, 9, 20, false), KERNEL_SCTP_RX_NOTHING);
	assert_int_equal(data(&rx, 29, 20, true), KERNEL_SCTP_RX_GOT_MESSAGE);
	assert_int_equal(message.len, 40);
	assert_memory_equal(message.data, bytes + 9, 40);
	kernel_sctp_rx_clear(&rx);
}

static void test_abandoned_message(void **state)
{
	struct sctp_pdapi_event ev = { .pdapi_type = SCTP_PARTIAL_DELIVERY_EVENT };
	struct kernel_sctp_rx rx = up();

	data(&rx, 0, 1000, false);
	assert_int_equal(event(&rx, &ev, sizeof(ev)), KERNEL_SCTP_RX_NOTHING);
	assert_int_equal(data(&rx, 50, 10, true), KERNEL_SCTP_RX_GOT_MESSAGE);
	assert_int_equal(message.len, 10);
	kernel_sctp_rx_clear(&rx);
}

static void test_too_long(void **state)
{
	struct kernel_sctp_rx rx = up();

	assert_int_equal(data(&rx, 0, KERNEL_SCTP_RX_MESSAGE, false), KERNEL_SCTP_RX_NOTHING);
	assert_int_equal(data(&rx, 0, 1, true), KERNEL_SCTP_RX_BROKEN);
	kernel_sctp_rx_clear(&rx);
	rx = up();
	assert_int_equal(data(&rx, 0, KERNEL_SCTP_RX_MESSAGE - 1, false), KERNEL_SCTP_RX_NOTHING);
	assert_int_equal(data(&rx, 0, 1, true), KERNEL_SCTP_RX_GOT_MESSAGE);
	assert_int_equal(message.len, KERNEL_SCTP_RX_MESSAGE);
	kernel_sctp_rx_clear(&rx);
}

static void test_ends(void **state)
{
	uint16_t dry = SCTP_SENDER_DRY_EVENT, closes = SCTP_SHUTDOWN_EVENT;
	struct kernel_sctp_rx rx = up(), connecting = { 0 };

	assert_int_equal(event(&rx, &dry, sizeof(dry)), KERNEL_SCTP_RX_DRY);
	assert_int_equal(event(&rx, &closes, sizeof(closes)), KERNEL_SCTP_RX_CLOSES);
	assert_int_equal(change(&rx, SCTP_SHUTDOWN_COMP), KERNEL_SCTP_RX_CLOSED);
	assert_int_equal(change(&rx, SCTP_COMM_LOST), KERNEL_SCTP_RX_LOST);
	assert_int_equal(change(&rx, SCTP_RESTART), KERNEL_SCTP_RX_RESTART);
	assert_int_equal(change(&connecting, SCTP_CANT_STR_ASSOC), KERNEL_SCTP_RX_LOST);
}

/* Events of future kernels, and truncated ones. */
static void test_strange_events(void **state)
{
	uint16_t unknown = 0x80ff, change_only = SCTP_ASSOC_CHANGE,
		 ind_only = SCTP_ADAPTATION_INDICATION;
	struct kernel_sctp_rx rx = { 0 };

	change(&rx, SCTP_COMM_UP);
	assert_int_equal(event(&rx, &unknown, sizeof(unknown)), KERNEL_SCTP_RX_NOTHING);
	assert_int_equal(event(&rx, &unknown, 1), KERNEL_SCTP_RX_NOTHING);
	assert_int_equal(event(&rx, &change_only, sizeof(change_only)), KERNEL_SCTP_RX_NOTHING);
	assert_int_equal(event(&rx, &ind_only, sizeof(ind_only)), KERNEL_SCTP_RX_NOTHING);
	assert_int_equal(kernel_sctp_rx_idle(&rx), KERNEL_SCTP_RX_BROKEN);
}

/* A message without SCTP_RCVINFO cannot be used. */
static void test_no_info(void **state)
{
	struct msghdr msg = { .msg_flags = MSG_EOR };
	struct kernel_sctp_rx rx = up();

	assert_int_equal(kernel_sctp_rx_take(&rx, &msg, bytes, 10, &message),
			 KERNEL_SCTP_RX_BROKEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_establishment),
		cmocka_unit_test(test_adaptation),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_abandoned_message),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_strange_events),
		cmocka_unit_test(test_no_info),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
