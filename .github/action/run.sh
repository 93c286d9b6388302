#!/usr/bin/env bash
# Runs `omnilink` with the arguments in ARGS, and says how it ended in the outputs and in the summary of the job.
#
# Reads ARGS, REPORTS (a directory for reports), and of the runner GITHUB_OUTPUT and GITHUB_STEP_SUMMARY. Ends with 0 whatever
# the command says, so that reports are uploaded: the last step of the action fails with the exit code.
set -euo pipefail

mkdir -p "$REPORTS"
# Words, with quotes as in a shell; nothing is expanded.
arguments=()
words=$(xargs printf '%s\n' <<<"$ARGS")
while IFS= read -r word; do
    arguments+=("$word")
done <<<"$words"

command=${arguments[0]}
options=()
case $command in
check | explain) options=(--report "html=$REPORTS/report.html") ;;
fuzz) options=(--report "md=$REPORTS/report.md") ;;
esac
case $command in
check | explain | fuzz) options+=(--report "junit=$REPORTS/junit.xml" --report "json=$REPORTS/report.json") ;;
esac

code=0
# Options before the arguments: what follows `--` is the harness. Empty arrays are unset in the shell of macOS.
omnilink "$command" ${options[@]+"${options[@]}"} ${arguments[@]+"${arguments[@]:1}"} || code=$?

if [[ $command == fuzz ]]; then
    # `check` writes its own summary. A summary has at most a megabyte.
    if [[ -e $REPORTS/report.md ]]; then
        head -c 900000 "$REPORTS/report.md" >>"$GITHUB_STEP_SUMMARY"
    fi
    # The page of the run that failed. Its exit code repeats the verdict.
    if [[ $code == 1 || $code == 5 ]]; then
        omnilink report latest --output "$REPORTS/report.html" || true
    fi
fi

verdict=
if [[ ${#options[@]} -gt 0 ]]; then
    case $code in
    0) verdict=accepted ;;
    1) verdict=rejected ;;
    3 | 130) verdict=inconclusive ;;
    4) verdict=empty ;;
    5) verdict=crashed ;;
    6) verdict=weak ;;
    *) verdict=error ;;
    esac
fi
{
    echo "exit-code=$code"
    echo "verdict=$verdict"
} >>"$GITHUB_OUTPUT"
