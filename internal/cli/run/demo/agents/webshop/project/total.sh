#!/bin/sh
# Prints the total of an order, in cents.
total=0
while read -r price count; do
  total=$((total + price * count))
done
echo $((total / 10 * 10))
