/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * opens PLUGIN: opens a plug-in that is linked with an MPI in a scope of its own, as interpreters do, and runs it. The
 * MPI then lies outside the program's global scope.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int (*run)(int, char **);
    void *plugin = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    *(void **)&run = dlsym(plugin, "run");
    return run == NULL ? 2 : run(argc, argv);
}
