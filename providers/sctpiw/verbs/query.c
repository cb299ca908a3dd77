/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "verbs/query.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "iwarp/iw_mcast.h"
#include "iwarp/iw_types.h"
#include "verbs/context.h"
#include "verbs/dm.h"
#include "verbs/qp_modify.h"

#define CLOCK_KHZ 1000000 /* frequency of rnic_clock() */
#define VENDOR_PART_ID 1
#define MAX_AH 65536 /* more than any program needs; the device does not check the number */
#define HW_VER 1     /* also the content of hw_rev in sysfs */
/*
 * Exponent of the delay in units of 4.096 us, so the value means 34 ms. SCTP delays an
 * acknowledgement by at most 25 ms.
 */
#define ACK_DELAY 13
/*
 * Of the memory management extensions, programs can only use local and remote invalidation. The
 * others are for the kernel. A bind ties a window of type 2 to one QP, and the window and the QP
 * must have the same PD. InfiniBand calls this type 2B.
 */
#define CAPS                                                                                       \
	(IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_PORT_ACTIVE_EVENT | IBV_DEVICE_SYS_IMAGE_GUID | \
	 IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_SRQ_RESIZE | IBV_DEVICE_MEM_WINDOW |               \
	 IBV_DEVICE_MEM_MGT_EXTENSIONS | IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_XRC)

/*
 * An atomic operation is one instruction of the processor, so it is atomic for all programs of this
 * host. But programs for channel adapters require exactly IBV_ATOMIC_HCA, which guarantees less.
 */
static enum ibv_atomic_cap atomic_cap(const struct sctpiw_context *ctx)
{
	return ctx->shard->rnic->config.personality == CONFIG_IWARP ? IBV_ATOMIC_GLOB :
								      IBV_ATOMIC_HCA;
}

/* Adds the capabilities that depend on the personality or the carrier. */
static void adjust(const struct sctpiw_context *ctx, struct ibv_device_attr_ex *ex)
{
	if (sctpiw_has_second_paths(ctx->shard)) {
		ex->orig_attr.device_cap_flags |= IBV_DEVICE_AUTO_PATH_MIG;
		ex->device_cap_flags_ex |= IBV_DEVICE_AUTO_PATH_MIG;
	}
	if (multicast_is_served(&ctx->shard->conn)) {
		ex->orig_attr.max_mcast_grp = IW_MAX_MCAST_GRP;
		ex->orig_attr.max_mcast_qp_attach = IW_MAX_MCAST_QP_ATTACH;
		ex->orig_attr.max_total_mcast_qp_attach = IW_MAX_MCAST_GRP * IW_MAX_MCAST_QP_ATTACH;
	}
}

int sctpiw_query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct sctpiw_context *ctx = to_ctx(context);
	struct ibv_device_attr_ex ex = {
		.orig_attr = {
			.fw_ver = SCTPIW_VERSION,
			.max_mr_size = IW_MAX_MR_LENGTH,
			.page_size_cap = 0xfffff000,
			.vendor_id = SCTPIW_VENDOR_ID,
			.vendor_part_id = VENDOR_PART_ID,
			.hw_ver = HW_VER,
			.max_qp = IW_MAX_QP,
			.max_qp_wr = IW_MAX_QP_WR,
			.device_cap_flags = CAPS,
			.max_sge = IW_MAX_SGE,
			.max_sge_rd = IW_MAX_SGE_RD,
			.max_cq = IW_MAX_CQ,
			.max_cqe = IW_MAX_CQE,
			.max_mr = IW_MAX_MR,
			.max_mw = IW_MAX_MW,
			.max_pd = IW_MAX_PD,
			.max_qp_rd_atom = IW_MAX_IRD,
			.max_res_rd_atom = IW_MAX_QP * IW_MAX_IRD,
			.max_qp_init_rd_atom = IW_MAX_ORD,
			.atomic_cap = atomic_cap(ctx),
			.max_srq = IW_MAX_SRQ,
			.max_srq_wr = IW_MAX_SRQ_WR,
			.max_srq_sge = IW_MAX_SGE,
			.max_pkeys = 1,
			.max_ah = MAX_AH,
			.local_ca_ack_delay = ACK_DELAY,
			.phys_port_cnt = 1,
		},
		.odp_caps = {
			.general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT,
			/* Every supported operation works with on-demand paging. */
			.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV |
							  IBV_ODP_SUPPORT_WRITE |
							  IBV_ODP_SUPPORT_READ |
							  IBV_ODP_SUPPORT_ATOMIC |
							  IBV_ODP_SUPPORT_SRQ_RECV,
			.per_transport_caps.uc_odp_caps =
				IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE,
			.per_transport_caps.ud_odp_caps = IBV_ODP_SUPPORT_SEND |
							  IBV_ODP_SUPPORT_RECV |
							  IBV_ODP_SUPPORT_SRQ_RECV,
		},
		.xrc_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_WRITE |
				IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC |
				IBV_ODP_SUPPORT_SRQ_RECV,
		.completion_timestamp_mask = UINT64_MAX,
		.hca_core_clock = CLOCK_KHZ,
		.device_cap_flags_ex = CAPS,
		.cq_mod_caps = { .max_cq_count = UINT16_MAX, .max_cq_period = UINT16_MAX },
		.max_dm_size = SCTPIW_MAX_DM,
		/*
		 * The device is not on a PCI bus. These fields are set nevertheless, since they
		 * report which operations are atomic in the host's memory.
		 */
		.pci_atomic_caps = {
			.fetch_add = IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP,
			.compare_swap = IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP,
		},
		.phys_port_cnt_ex = 1,
	};

	if (attr_size < sizeof(ex.orig_attr) || (input && input->comp_mask))
		return EINVAL;
	adjust(ctx, &ex);
	ex.orig_attr.node_guid = ex.orig_attr.sys_image_guid = ctx->node_guid;
	/* The struct of a newer libibverbs may be longer than in the local headers. */
	memset(attr, 0, attr_size);
	memcpy(attr, &ex, attr_size < sizeof(ex) ? attr_size : sizeof(ex));
	return 0;
}

int sctpiw_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	values->comp_mask &= IBV_VALUES_MASK_RAW_CLOCK;
	if (values->comp_mask)
		values->raw_clock = (struct timespec){ .tv_nsec = (long)rnic_clock() };
	return 0;
}

static enum ibv_mtu mtu_from_bytes(unsigned int bytes)
{
	if (bytes >= 4096)
		return IBV_MTU_4096;
	if (bytes >= 2048)
		return IBV_MTU_2048;
	if (bytes >= 1024)
		return IBV_MTU_1024;
	return bytes >= 512 ? IBV_MTU_512 : IBV_MTU_256;
}

unsigned int sctpiw_active_mtu(void)
{
	struct port_attr port;

	port_query(&port);
	return 128u << mtu_from_bytes(port.mtu);
}

#define PHYS_DISABLED 3
#define PHYS_LINK_UP 5

int sctpiw_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr)
{
	bool ib = to_ctx(context)->shard->rnic->config.personality == CONFIG_IB;
	struct port_attr port;
	struct ibv_port_attr known;

	if (port_num != 1)
		return EINVAL;
	port_query(&port);
	known = (struct ibv_port_attr){
		.state = port.active ? IBV_PORT_ACTIVE : IBV_PORT_DOWN,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = mtu_from_bytes(port.mtu),
		.gid_tbl_len = GID_TABLE_LEN,
		.port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_DEVICE_MGMT_SUP |
				  (ib ? 0 : IBV_PORT_IP_BASED_GIDS),
		.max_msg_sz = IW_MAX_MSG,
		.pkey_tbl_len = 1,
		.max_vl_num = 1,
		.active_width = port.width,
		.active_speed = port.speed,
		.phys_state = port.active ? PHYS_LINK_UP : PHYS_DISABLED,
		.lid = ib ? port.lid : 0,
		.link_layer = ib ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET,
		/*
		 * A QP that is connected out of band finds its peer by a GID, which is an IP
		 * address. With the personality ib, it may use a LID instead.
		 */
		.flags = ib ? 0 : IBV_QPF_GRH_REQUIRED,
	};
	/*
	 * The caller's struct may be shorter than the one of the local headers. libibverbs has
	 * filled it with zeros. Every known version has the fields up to flags.
	 */
	memcpy(attr, &known, offsetof(struct ibv_port_attr, flags) + sizeof(known.flags));
	return 0;
}
