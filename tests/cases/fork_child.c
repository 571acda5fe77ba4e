/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* host-only */
/* The program forks after some strided traffic; the child touches no MPI and
 * leaves, once with _exit and once with exit.  The parent goes on unharmed. */
#include "mem.h"
#include <sys/wait.h>

int main(int argc, char **argv)
{
    MPI_Datatype t;
    int i, k, rep, peer, status;
    unsigned char *mine, *his, *want;
    void *a, *b;

    case_start(&argc, &argv, "fork_child", 2);
    peer = 1 - case_rank;
    OK(MPI_Type_vector(500, 1, 2, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    a = mem_alloc(4000);
    b = mem_alloc(2000);
    mine = pat_buf(4000, 1u + (unsigned)case_rank);
    his = pat_buf(4000, 1u + (unsigned)peer);
    want = host_buf(2000);
    for (i = 0; i < 500; i++)
        memcpy(want + 4 * i, his + 8 * i, 4);
    mem_put(a, mine, 4000);
    fflush(NULL);
    for (rep = 0; rep < 2; rep++) {
        pid_t pid;
        for (k = 0; k < 3; k++) {
            OK(MPI_Sendrecv(a, 1, t, peer, 1, b, 500, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            mem_same(b, want, 2000, "data");
        }
        pid = fork();
        if (pid == 0) {
            if (rep == 0)
                _exit(3);
            alarm(20);
            exit(3);
        }
        CHECK(pid > 0, "fork failed");
        CHECK(waitpid(pid, &status, 0) == pid, "waitpid failed");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3, "the child that calls %s did not leave with status 3 (%x)", rep ? "exit" : "_exit", status);
    }
    OK(MPI_Sendrecv(a, 1, t, peer, 2, b, 500, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    mem_same(b, want, 2000, "data after the forks");
    free(mine);
    free(his);
    free(want);
    mem_free(a);
    mem_free(b);
    OK(MPI_Type_free(&t));
    return case_end();
}
