#!/bin/sh
# Written by `umpire setup cline`; `umpire setup cline --undo` takes it away.
# command: {{words}}
answer=$({{line}})
code=$?
if [ -z "$answer" ] && [ "$code" -ne 0 ]; then
	answer='{"cancel":true,"errorMessage":"umpire did not answer, so the call is not run"}'
fi
printf '%s\n' "$answer"
