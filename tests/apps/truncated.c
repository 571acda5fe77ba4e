/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * truncated.c - the case of messages that are longer than their receives, for tests that look at the report. */
#include "../cases/truncate_recv.c"
