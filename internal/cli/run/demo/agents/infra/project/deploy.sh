#!/bin/sh
# Writes the settings of the next release.
mkdir -p release
date -u +%Y-%m-%d >release/date
echo "replicas=3" >release/settings
