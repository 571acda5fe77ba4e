# SPDX-License-Identifier: MIT OR Apache-2.0
"""One face of a 3-D array to the next rank of a ring and back from the other, with mpi4py and no copies by hand.

mpirun -n 2 python3 halo.py
"""
from array import array

from mpi4py import MPI

n, r = 64, 2
side = n + 2 * r
world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
after, before = (rank + 1) % ranks, (rank - 1) % ranks

cube = array("d", [rank]) * side**3
face = ([side] * 3, [n, n, r])
sent = MPI.DOUBLE.Create_subarray(*face, [r, r, n]).Commit()
received = MPI.DOUBLE.Create_subarray(*face, [r, r, 0]).Commit()

start = MPI.Wtime()
for _ in range(100):
    world.Sendrecv([cube, 1, sent], after, 0, [cube, 1, received], before, 0)
each = (MPI.Wtime() - start) / 100

for i, value in enumerate(cube):
    z, y, x = i // side**2, i // side % side, i % side
    border = x < r and r <= y < r + n and r <= z < r + n
    if value != (before if border else rank):
        print(f"wrong: rank {rank}, cell {z, y, x} is {value}", flush=True)
        world.Abort(1)
if rank == 0:
    print(f"halo.py: right, {each * 1e6:.1f} us an exchange")
