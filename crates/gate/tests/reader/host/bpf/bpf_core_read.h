/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* In the place of libbpf's header: nothing of a kernel is read here. */
#ifndef TIDEGATE_HOST_CORE_READ_H
#define TIDEGATE_HOST_CORE_READ_H

#define bpf_core_type_id_kernel(type) 0

#endif
