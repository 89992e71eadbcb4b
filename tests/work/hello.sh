#!/bin/sh
# tests/work/hello.sh: a command that is named relative to the configuration file's folder.
# SPDX-License-Identifier: MIT
echo "hello from $(pwd)"
