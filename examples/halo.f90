! SPDX-License-Identifier: MIT OR Apache-2.0
! One face of a 3-D array to the next rank of a ring and back from the other, as Fortran codes write it.
!   mpifort halo.f90 -o halo && mpirun -n 2 ./halo
program halo
  use mpi
  implicit none
  integer, parameter :: n = 64, r = 2, side = n + 2 * r
  double precision, allocatable :: cube(:, :, :)
  integer :: rank, ranks, next, before, sent, received, i, error
  double precision :: start

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  allocate (cube(side, side, side))
  cube = rank
  ! the last own cells in x, and the border before the first ones: blocks of r doubles, the dear direction
  call MPI_Type_create_subarray(3, [side, side, side], [r, n, n], [n, r, r], MPI_ORDER_FORTRAN, &
                                MPI_DOUBLE_PRECISION, sent, error)
  call MPI_Type_create_subarray(3, [side, side, side], [r, n, n], [0, r, r], MPI_ORDER_FORTRAN, &
                                MPI_DOUBLE_PRECISION, received, error)
  call MPI_Type_commit(sent, error)
  call MPI_Type_commit(received, error)
  start = MPI_Wtime()
  do i = 1, 100
    call MPI_Sendrecv(cube, 1, sent, next, 0, cube, 1, received, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  end do
  start = (MPI_Wtime() - start) / 100
  if (any(cube(1:r, r + 1:r + n, r + 1:r + n) /= before) .or. any(cube(r + 1:, :, :) /= rank)) then
    print *, 'wrong on rank', rank
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end if
  if (rank == 0) print '(a, f0.1, a)', 'halo.f90: right, ', start * 1d6, ' us an exchange'
  call MPI_Type_free(sent, error)
  call MPI_Type_free(received, error)
  call MPI_Finalize(error)
end program halo
