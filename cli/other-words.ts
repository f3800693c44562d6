import { type Command, CommanderError } from "commander";
import { findCommand } from "./command.ts";
import { type Failure, usage } from "./failure.ts";
import { pathOf } from "./help/layout.ts";

/** Words for the same act, of which a group of commands has one. */
const SAME = [
  ["create", "submit", "add", "init", "new", "make", "generate"],
  ["revoke", "delete", "remove", "rm", "del", "purge", "uninstall"],
  ["list", "ls", "all"],
  ["show", "get", "info", "describe", "view"],
  ["update", "edit", "set", "change"],
];

const PURGE =
  "`svc accounts suspend` refuses its keys, `svc accounts purge` removes all of it but its money.";

/** What other programs have as a command, and this one does otherwise. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    start: "`svc serve` runs the service, `svc service install` has systemd run it.",
    run: "`svc serve` runs the service.",
    up: "`svc serve` runs the service.",
    stop: "A server stops at Ctrl-C in its terminal, or at SIGTERM; one of systemd at `systemctl stop svc`.",
    restart:
      "Stop the server (Ctrl-C, or SIGTERM) and run `svc serve` again; one of systemd: `systemctl restart svc`.",
    reload: "`svc config reload` has a running server take up changed settings.",
    status:
      "`svc doctor` looks at a server and its data folder, `svc top` shows how it does, `svc task list` its tasks; of a service of systemd, `svc service status`.",
    ps: "`svc task list` lists tasks, `svc top` shows how a server does.",
    health: "`svc doctor` looks for what is wrong; a server answers at /healthz and /readyz.",
    ping: "`svc whoami` asks the server; it answers at /healthz, too.",
    info: "`svc whoami` shows the server and the key, `svc doctor` what is wrong, `svc version` the version.",
    init: "`svc serve` needs no settings and makes its data folder itself; `svc help settings` lists what can be set.",
    setup:
      "`svc serve` needs no settings and makes its data folder itself; `svc help settings` lists what can be set.",
    settings: "`svc config show` shows them, `svc help settings` explains them.",
    set: "Settings are lines of svc.yaml, variables or flags of `svc serve`: `svc help settings`.",
    generate: "`svc image` makes an image, `svc video` a video.",
    create: "`svc image` makes an image, `svc video` a video, `svc keys create` a key.",
    list: "`svc task list` lists tasks, `svc models list` models, `svc keys list` keys.",
    docs: "A running server has them at /docs; `svc help` explains commands.",
    user: "Users are accounts with keys here: `svc accounts`, `svc keys`.",
    users: "Users are accounts with keys here: `svc accounts`, `svc keys`.",
    backup: "`svc db backup` makes a backup.",
    restore: "`svc db restore` restores a backup.",
    update: "`svc upgrade` says whether there is a newer version.",
    "accounts delete": PURGE,
    "accounts remove": PURGE,
    "config set": "Settings are lines of svc.yaml, variables or flags of `svc serve`: `svc help settings`.",
    "config get": "`svc config show` lists all settings.",
    "console open": "`svc console link` prints a link that opens it.",
  }),
);

/** Says what to do in place of a command that is not there and that people know from elsewhere; undefined where nothing is known. */
export function unknownCommand(group: Command, args: readonly string[], error: unknown): Failure | undefined {
  if (!(error instanceof CommanderError) || error.code !== "commander.unknownCommand") return undefined;
  const path = pathOf(group);
  const depth = path.split(" ").length - 1;
  const word = args[depth] ?? "";
  const advice = ELSEWHERE.get([...path.split(" ").slice(1), word].join(" ")) ?? sameIn(group, word);
  return advice === undefined
    ? undefined
    : usage(`Unknown command '${word}'. ${advice}`, `See \`${path} --help\`.`);
}

function sameIn(group: Command, word: string): string | undefined {
  const words = group.parent === null ? undefined : SAME.find((each) => each.includes(word));
  const same = words?.find((each) => findCommand(group, each) !== undefined);
  return same === undefined ? undefined : `Did you mean ${same}?`;
}
