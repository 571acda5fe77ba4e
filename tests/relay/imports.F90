! SPDX-License-Identifier: MIT OR Apache-2.0
!
! A plug-in in Fortran that calls a function of MPI-3.1 and, by -D, one that is newer.
subroutine plug_in()
#ifdef USE_MPI_F08
  use mpi_f08
  implicit none
  type(MPI_Request) :: request
#else
  implicit none
  include 'mpif.h'
  integer :: request
#endif
  integer :: ierror, x(4), size
  call MPI_Bcast(x, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  call MPI_Sizeof(x, size, ierror)
#ifdef BARRIER_INIT
  call MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
#endif
end subroutine
