import type { Command } from "commander";
import { describeArgument, given, onRun, withCommonFlags } from "../command.ts";
import { LOADING, SCRIPTS, SHELLS, type Shell } from "../complete/shells.ts";
import type { Context } from "../context.ts";
import { withExamples, withNotes } from "../help/manual.ts";

export function defineComplete(command: Command, context: Context): void {
  describeArgument(withCommonFlags(command), "the shell", SHELLS);
  withExamples(
    command,
    ["source <(svc complete bash)", "in this session; zsh: the same"],
    [LOADING.bash, "in each"],
    LOADING.fish,
  );
  withNotes(
    command,
    "Names of models, tasks and callbacks are the server's, names of keys, accounts and tokens the data folder's, or the server's with a management token. A server that does not answer within a tenth of a second completes nothing.",
    `PowerShell: ${LOADING.powershell}`,
  );
  onRun(command, context, async ({ args, output }) => {
    // Safe: commander takes these words only.
    const shell = given(args, 0) as Shell;
    output.show({ shell, script: SCRIPTS[shell] }, () => SCRIPTS[shell]);
  });
}
