/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* In the place of libbpf's header. */
#ifndef TIDEGATE_HOST_ENDIAN_H
#define TIDEGATE_HOST_ENDIAN_H

#include <arpa/inet.h>
#include <endian.h>

#define bpf_htons htons
#define bpf_ntohs ntohs
#define bpf_ntohl ntohl
#define bpf_be64_to_cpu be64toh

#endif
