/** `svc help formatting`. */
export const FORMATTING_HELP = `Results go to standard output, everything said about them to standard error.

On a terminal, results are tables and texts for people, as wide as the terminal.
Elsewhere, as in a pipe, they are lines with tabs between cells, without a
heading, cut or colour: for cut, sort and awk.

  --json          JSON; one object on each line for what has no end or is long.
                  Errors are JSON on standard error: {"error": {"code", "message",
                  "hint", "request_id"}}
  --field <path>  one value of the JSON: task_id, tasks.0.model, and
                  tasks.*.task_id for one of each
  --plain         the lines with tabs, on a terminal too
  -q, --quiet     nothing but results and errors
  --no-color      no colours; NO_COLOR (set to anything) and TERM=dumb do the same

SVC_OUTPUT=json or SVC_OUTPUT=plain does for every command what the flag does for
one.

No command waits for an answer where nobody can give one. What cannot be undone
asks on a terminal; elsewhere, and with --no-input, it needs --yes.

Flags may stand before or after the words of a command: \`svc --json keys list\`
and \`svc keys list --json\` are the same.
`;
