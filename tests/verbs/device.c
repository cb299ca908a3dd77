/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The attributes of the device, which must agree however they are read. */
#include "fixture.h"

#define SYSFS "/sys/class/infiniband/sctpiw0/"
#define RXE_VENDOR 0xffffffu
#define SIW_VENDOR 0x626d74u

/* Reads the first line of a file in the device's directory. */
static void read_file(const char *name, char *text, size_t len)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), SYSFS "%s", name);
	f = fopen(path, "r");
	CHECK(f);
	CHECK(fgets(text, (int)len, f));
	text[strcspn(text, "\n")] = '\0';
	fclose(f);
}

/*
 * The vendor is a locally administered OUI, which no other vendor has. Programs work around the
 * behaviour of certain vendors' devices, including software devices.
 */
static void test_vendor(void)
{
	struct ibv_context *ctx = open_device();
	struct ibv_device_attr attr;
	char text[64];

	CHECK_EQ(ibv_query_device(ctx, &attr), 0);
	CHECK_EQ(attr.vendor_id, 0x026977);
	CHECK_EQ(attr.vendor_id >> 24, 0);
	CHECK_EQ(attr.vendor_id >> 16 & 3, 2); /* locally administered, and individual */
	CHECK(attr.vendor_id != RXE_VENDOR && attr.vendor_id != SIW_VENDOR);
	CHECK(attr.vendor_part_id);
	CHECK(attr.hw_ver);
	read_file("hw_rev", text, sizeof(text));
	CHECK_EQ(strtoul(text, NULL, 16), attr.hw_ver);
	CHECK(attr.fw_ver[0] >= '0' && attr.fw_ver[0] <= '9');
	read_file("fw_ver", text, sizeof(text));
	CHECK(!strcmp(text, attr.fw_ver));
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* Object types that exist have a limit, others have 0, and capabilities are true. */
static void test_limits(void)
{
	unsigned int caps = IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_PORT_ACTIVE_EVENT |
			    IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN |
			    IBV_DEVICE_SRQ_RESIZE | IBV_DEVICE_MEM_WINDOW |
			    IBV_DEVICE_MEM_MGT_EXTENSIONS | IBV_DEVICE_MEM_WINDOW_TYPE_2B |
			    IBV_DEVICE_XRC;
	struct ibv_context *ctx = open_device();
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	__be16 pkey;

	CHECK_EQ(ibv_query_device(ctx, &attr), 0);
	CHECK(attr.node_guid && attr.sys_image_guid == attr.node_guid);
	CHECK(attr.max_mr_size > 4096 && attr.page_size_cap >= 4096);
	CHECK(attr.max_qp > 0 && attr.max_qp_wr > 0 && attr.max_cq > 0 && attr.max_cqe > 0);
	CHECK(attr.max_sge > 0 && attr.max_sge_rd > 0 && attr.max_pd > 0);
	CHECK(attr.max_mr > 0 && attr.max_mw > 0 && attr.max_srq > 0);
	CHECK(attr.max_srq_wr > 0 && attr.max_srq_sge > 0);
	CHECK(attr.max_qp_rd_atom > 0 && attr.max_qp_init_rd_atom > 0);
	CHECK_EQ(attr.max_res_rd_atom, attr.max_qp * attr.max_qp_rd_atom);
	CHECK(attr.local_ca_ack_delay > 0 && attr.local_ca_ack_delay < 32);
	caps |= ctx->device->node_type == IBV_NODE_RNIC ? 0 : IBV_DEVICE_AUTO_PATH_MIG;
	CHECK_EQ(attr.device_cap_flags, caps);
	CHECK_EQ(attr.phys_port_cnt, 1);

	CHECK(attr.max_ah >= 1024);
	/* No FMRs, and no part of InfiniBand's RD. */
	CHECK_EQ(attr.max_raw_ipv6_qp + attr.max_raw_ethy_qp, 0);
	CHECK_EQ(attr.max_fmr + attr.max_map_per_fmr, 0);
	CHECK_EQ(attr.max_ee + attr.max_rdd + attr.max_ee_rd_atom + attr.max_ee_init_rd_atom, 0);

	CHECK_EQ(ibv_query_port(ctx, 1, &port), 0);
	CHECK_EQ(attr.max_pkeys, port.pkey_tbl_len);
	CHECK_EQ(ibv_query_pkey(ctx, 1, 0, &pkey), 0);
	CHECK_EQ(pkey, 0xffff);
	CHECK(ibv_query_pkey(ctx, 1, 1, &pkey));
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static void test_extended(void)
{
	struct ibv_query_device_ex_input input = { 0 };
	struct ibv_context *ctx = open_device();
	struct ibv_device_attr attr;
	struct ibv_device_attr_ex ex;

	memset(&ex, 0xff, sizeof(ex));
	CHECK_EQ(ibv_query_device(ctx, &attr), 0);
	CHECK_EQ(ibv_query_device_ex(ctx, &input, &ex), 0);
	CHECK(!memcmp(&ex.orig_attr, &attr, sizeof(attr)));
	CHECK_EQ(ex.comp_mask, 0);
	CHECK_EQ(ex.phys_port_cnt_ex, attr.phys_port_cnt);
	CHECK_EQ(ex.device_cap_flags_ex, attr.device_cap_flags);
	CHECK(ex.odp_caps.general_caps & IBV_ODP_SUPPORT);
	CHECK(ex.odp_caps.per_transport_caps.rc_odp_caps & IBV_ODP_SUPPORT_SRQ_RECV);
	CHECK_EQ(ex.completion_timestamp_mask, UINT64_MAX);
	CHECK_EQ(ex.hca_core_clock, 1000000); /* kHz: a tick is a nanosecond */
	CHECK_EQ(ex.cq_mod_caps.max_cq_count, UINT16_MAX);
	CHECK_EQ(ex.cq_mod_caps.max_cq_period, UINT16_MAX);
	CHECK(ex.max_dm_size > 0);
	CHECK_EQ(ex.pci_atomic_caps.fetch_add, IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP);
	CHECK_EQ(ex.pci_atomic_caps.swap, 0);
	CHECK_EQ(ex.pci_atomic_caps.compare_swap, IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP);
	/* There are no raw packets, and no features for them. */
	CHECK_EQ(ex.raw_packet_caps, 0);
	CHECK_EQ(ex.tso_caps.max_tso, 0);
	CHECK_EQ(ex.tso_caps.supported_qpts, 0);
	CHECK_EQ(ex.rss_caps.supported_qpts, 0);
	CHECK_EQ(ex.rss_caps.max_rwq_indirection_tables, 0);
	CHECK_EQ(ex.rss_caps.max_rwq_indirection_table_size, 0);
	CHECK_EQ(ex.rss_caps.rx_hash_fields_mask, 0);
	CHECK_EQ(ex.rss_caps.rx_hash_function, 0);
	CHECK_EQ(ex.max_wq_type_rq, 0);
	CHECK_EQ(ex.packet_pacing_caps.qp_rate_limit_max, 0);
	CHECK_EQ(ex.packet_pacing_caps.supported_qpts, 0);
	CHECK_EQ(ex.tm_caps.max_num_tags, 0);
	CHECK_EQ(ex.tm_caps.flags, 0);
	input.comp_mask = 1;
	CHECK_EQ(ibv_query_device_ex(ctx, &input, &ex), EINVAL);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "vendor", test_vendor },
		{ "limits", test_limits },
		{ "extended", test_extended },
	};

	return RUN_TESTS(argc, argv, tests);
}
