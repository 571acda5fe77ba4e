/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Packing in pieces gives the same bytes as packing at once, from any starting
 * position, and may be unpacked in pieces of other sizes; the result is sent as
 * MPI_PACKED and taken apart on the other rank. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype col, sub, pair;
    layout l1 = {0}, l3 = {0};
    int c, i, pos, pos2, n, peer, room, need[4], sizes[2] = {10, 9}, subs[2] = {4, 3}, starts[2] = {3, 2};
    unsigned char *img, *want;
    void *pk;
    area src, dst;

    case_start(&argc, &argv, "pack_pieces", 2);
    peer = 1 - case_rank;
    OK(MPI_Type_vector(6, 2, 5, MPI_INT, &col));
    OK(MPI_Type_commit(&col));
    for (c = 0; c < 3; c++) {
        MPI_Aint lb, e;
        OK(MPI_Type_get_extent(col, &lb, &e));
        for (i = 0; i < 6; i++) {
            lay_add(&l3, c * e + 20 * i, 8);
            if (c == 0)
                lay_add(&l1, 20 * i, 8);
        }
    }
    src = area_make(&l3, 5);
    want = host_buf(l3.bytes);
    lay_gather(&l3, src.img + src.zero, want);
    room = (int)l3.bytes + 100;
    pk = mem_alloc_pack((size_t)room);
    img = pat_buf((size_t)room, 6);
    mem_put(pk, img, (size_t)room);

    { /* three times one, starting at byte 7 */
        MPI_Aint lb, e;
        OK(MPI_Type_get_extent(col, &lb, &e));
        pos = 7;
        for (c = 0; c < 3; c++) {
            OK(MPI_Pack(at(src.buf, c * e), 1, col, pk, room, &pos, MPI_COMM_WORLD));
            CHECK(pos == 7 + (c + 1) * (int)l1.bytes, "piece %d ends at %d", c, pos);
        }
        memcpy(img + 7, want, l3.bytes);
        mem_same(pk, img, (size_t)room, "three pieces from byte 7");
        /* unpacked at once */
        dst = area_make(&l3, 8);
        pos = 7;
        OK(MPI_Unpack(pk, room, &pos, dst.buf, 3, col, MPI_COMM_WORLD));
        CHECK(pos == 7 + (int)l3.bytes, "unpacked to %d", pos);
        ex_check_area(&dst, &l3, want, "three pieces", "unpacked at once");
        area_drop(&dst);
        /* packed at once, unpacked in pieces, last piece as plain ints */
        pos = 0;
        OK(MPI_Pack(src.buf, 3, col, pk, room, &pos, MPI_COMM_WORLD));
        dst = area_make(&l3, 9);
        pos2 = 0;
        OK(MPI_Unpack(pk, pos, &pos2, dst.buf, 2, col, MPI_COMM_WORLD));
        OK(MPI_Unpack(pk, pos, &pos2, at(dst.buf, 2 * e), 1, col, MPI_COMM_WORLD));
        CHECK(pos2 == pos, "unpacked to %d of %d", pos2, pos);
        ex_check_area(&dst, &l3, want, "packed at once", "unpacked in pieces");
        area_drop(&dst);
        {
            unsigned char *h = pat_buf(l1.bytes, 10);
            void *ints = mem_alloc(l1.bytes);
            pos2 = (int)l1.bytes;
            OK(MPI_Unpack(pk, pos, &pos2, ints, 12, MPI_INT, MPI_COMM_WORLD));
            mem_same(ints, want + l1.bytes, l1.bytes, "middle piece as plain ints");
            free(h);
            mem_free(ints);
        }
    }
    { /* MPI_Pack_size is enough for each and for all together */
        OK(MPI_Pack_size(3, col, MPI_COMM_WORLD, &need[0]));
        OK(MPI_Pack_size(1, col, MPI_COMM_WORLD, &need[1]));
        OK(MPI_Pack_size(0, col, MPI_COMM_WORLD, &need[2]));
        CHECK(need[0] >= (int)l3.bytes && need[1] >= (int)l1.bytes && need[2] >= 0, "MPI_Pack_size: %d %d %d", need[0], need[1], need[2]);
    }
    { /* a packet of four kinds, over the wire as MPI_PACKED */
        layout ls = {0};
        int k, hdr[3] = {0}, total;
        void *msg, *in, *pairs, *pairs2;
        area s2, d2;
        MPI_Status st;
        OK(MPI_Type_create_subarray(2, sizes, subs, starts, MPI_ORDER_C, MPI_DOUBLE, &sub));
        OK(MPI_Type_contiguous(2, MPI_FLOAT, &pair));
        OK(MPI_Type_commit(&sub));
        OK(MPI_Type_commit(&pair));
        for (k = 0; k < 4; k++)
            lay_add(&ls, 8 * ((3 + k) * 9 + 2), 24);
        s2 = area_make(&ls, 20u + (unsigned)case_rank);
        d2 = area_make(&ls, 33);
        pairs = mem_alloc(40);
        pairs2 = mem_alloc(40);
        img = pat_buf(40, 50u + (unsigned)case_rank);
        mem_put(pairs, img, 40);
        for (k = 0, total = 0; k < 4; k++) {
            MPI_Datatype ty[4] = {MPI_INT, sub, pair, col};
            int ct[4] = {3, 1, 5, 3};
            OK(MPI_Pack_size(ct[k], ty[k], MPI_COMM_WORLD, &need[k]));
            total += need[k];
        }
        msg = mem_alloc_pack((size_t)total);
        in = mem_alloc_pack((size_t)total + 64);
        {
            void *h = mem_alloc(12);
            hdr[0] = 4;
            hdr[1] = case_rank;
            hdr[2] = 77;
            mem_put(h, hdr, 12);
            pos = 0;
            OK(MPI_Pack(h, 3, MPI_INT, msg, total, &pos, MPI_COMM_WORLD));
            OK(MPI_Pack(s2.buf, 1, sub, msg, total, &pos, MPI_COMM_WORLD));
            OK(MPI_Pack(pairs, 5, pair, msg, total, &pos, MPI_COMM_WORLD));
            OK(MPI_Pack(src.buf, 3, col, msg, total, &pos, MPI_COMM_WORLD));
            CHECK(pos == 12 + 96 + 40 + (int)l3.bytes, "packet is %d bytes", pos);
            OK(MPI_Sendrecv(msg, pos, MPI_PACKED, peer, 3, in, total + 64, MPI_PACKED, peer, 3, MPI_COMM_WORLD, &st));
            OK(MPI_Get_count(&st, MPI_PACKED, &n));
            CHECK(n == pos, "%d bytes of MPI_PACKED arrived, sent %d", n, pos);
            pos2 = 0;
            OK(MPI_Unpack(in, n, &pos2, h, 3, MPI_INT, MPI_COMM_WORLD));
            mem_get(hdr, h, 12);
            CHECK(hdr[0] == 4 && hdr[1] == peer && hdr[2] == 77, "header %d %d %d", hdr[0], hdr[1], hdr[2]);
            OK(MPI_Unpack(in, n, &pos2, d2.buf, 1, sub, MPI_COMM_WORLD));
            OK(MPI_Unpack(in, n, &pos2, pairs2, 5, pair, MPI_COMM_WORLD));
            dst = area_make(&l3, 34);
            OK(MPI_Unpack(in, n, &pos2, dst.buf, 3, col, MPI_COMM_WORLD));
            CHECK(pos2 == n, "unpacked %d of %d", pos2, n);
            mem_free(h);
        }
        {
            area o = area_make(&ls, 20u + (unsigned)peer);
            unsigned char *p = host_buf(ls.bytes);
            lay_gather(&ls, o.img + o.zero, p);
            ex_check_area(&d2, &ls, p, "packet", "subarray");
            area_drop(&o);
            free(p);
            free(img);
            img = pat_buf(40, 50u + (unsigned)peer);
            mem_same(pairs2, img, 40, "packet, pairs");
            ex_check_area(&dst, &l3, want, "packet", "columns"); /* the same on both ranks */
        }
        area_drop(&s2);
        area_drop(&d2);
        area_drop(&dst);
        mem_free(pairs);
        mem_free(pairs2);
        mem_free(msg);
        mem_free(in);
        lay_drop(&ls);
        OK(MPI_Type_free(&sub));
        OK(MPI_Type_free(&pair));
    }
    mem_free(pk);
    area_drop(&src);
    OK(MPI_Type_free(&col));
    return case_end();
}
