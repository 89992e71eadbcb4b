/* tests/work/handlers/future.c: a handler built for a server that does not exist yet.
 *
 * SPDX-License-Identifier: MIT */
const int errand_abi = 99;
int errand_register(void *registry);
int errand_register(void *registry)
{
    return registry == 0;
}
