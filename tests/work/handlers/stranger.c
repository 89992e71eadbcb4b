/* tests/work/handlers/stranger.c: a shared object that has nothing to do with Errand.
 *
 * SPDX-License-Identifier: MIT */
int stranger(void);
int stranger(void)
{
    return 1;
}
