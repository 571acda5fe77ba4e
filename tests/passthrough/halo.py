# SPDX-License-Identifier: MIT OR Apache-2.0
"""Columns of a matrix through mpi4py, which opens the MPI by itself."""
import sys
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
rows, columns = 19, 7
matrix = array("i", (1000 * rank + i for i in range(rows * columns)))
column = MPI.INT.Create_vector(rows, 2, columns).Commit()
status = MPI.Status()
world.Sendrecv([matrix, 1, column], (rank + 1) % ranks, 3, [memoryview(matrix)[4:], 1, column], (rank - 1) % ranks, 3, status)
packed = bytearray(8 * rows)
# the bytes of one element, as mpi4py counts how many there are
extent = column.Get_extent()[1]
position = column.Pack(memoryview(matrix).cast("B")[12 : 12 + extent], packed, 0, world)
# one write, so that the lines of two ranks do not mix
sys.stdout.write(
    f"rank {rank}: from {status.Get_source()}, count {status.Get_count(column)}, position {position}, "
    f"{sum(i * v for i, v in enumerate(matrix))} {packed.hex()}\n"
)
