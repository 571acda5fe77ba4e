! SPDX-License-Identifier: MIT OR Apache-2.0
!
! Columns and rows of a matrix around a ring, through one of Fortran's three ways to MPI:
! -DMPIF_H, -DUSE_MPI or -DUSE_MPI_F08.
#ifdef USE_MPI_F08
#define HANDLE(t) type(t)
#define STATUS type(MPI_Status)
#define SOURCE(s) s%MPI_SOURCE
#else
#define HANDLE(t) integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define SOURCE(s) s(MPI_SOURCE)
#endif
program halo
#ifdef USE_MPI_F08
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#ifdef MPIF_H
  include 'mpif.h'
#endif
  integer, parameter :: n = 23, m = 9
  double precision :: a(n, m), packed(2 * m)
  HANDLE(MPI_Datatype) :: row
  STATUS :: st
  integer :: rank, ranks, next, prev, i, j, ierr, position, count
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  next = mod(rank + 1, ranks)
  prev = mod(rank + ranks - 1, ranks)
  do j = 1, m
    do i = 1, n
      a(i, j) = 1000 * rank + 10 * i + j
    end do
  end do
  ! two neighbouring rows of a column-major matrix: m blocks of 2 elements, n apart
  call MPI_Type_vector(m, 2, n, MPI_DOUBLE_PRECISION, row, ierr)
  call MPI_Type_commit(row, ierr)
  call MPI_Sendrecv(a(3, 1), 1, row, next, 7, a(20, 1), 1, row, prev, 7, MPI_COMM_WORLD, st, ierr)
  call MPI_Get_count(st, row, count, ierr)
  ! the sentinel of Fortran has an address of its own
  call MPI_Sendrecv(a(5, 1), 1, row, next, 8, a(10, 1), 1, row, prev, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  position = 0
  call MPI_Pack(a(19, 1), 1, row, packed, 16 * m, position, MPI_COMM_WORLD, ierr)
  print '(a, i0, a, i0, a, i0, a, i0, a, 2f14.1)', 'rank ', rank, ' from ', SOURCE(st), ' count ', count, ' position ', &
    position, ' sums ', sum(a * reshape([(dble(i), i = 1, n * m)], [n, m])), sum(packed * [(dble(i), i = 1, 2 * m)])
  call MPI_Type_free(row, ierr)
  call MPI_Finalize(ierr)
end program halo
