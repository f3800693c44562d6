/** Time for tmux to answer. */
const ANSWER_WITHIN_MS = 500;

/**
 * Asks tmux which terminal shows it.
 *
 * @returns its TERM; undefined unless tmux lets through what a program writes for that terminal
 */
export async function terminalBehindTmux(
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const pane = env.TMUX_PANE === undefined ? [] : ["-t", env.TMUX_PANE];
  const show = ["show-options", ...pane, "-Apv", "allow-passthrough"];
  try {
    const tmux = Bun.spawn(["tmux", ...show, ";", "display-message", ...pane, "-p", "#{client_termname}"], {
      env: { ...env },
      stdin: "ignore",
      stderr: "ignore",
      timeout: ANSWER_WITHIN_MS,
    });
    const [allowed, term] = (await tmux.stdout.text()).split("\n");
    return allowed === "on" || allowed === "all" ? term : undefined;
  } catch {
    return undefined; // There is no tmux to ask, as on another machine.
  }
}

/** Has tmux hand escape sequences on to the terminal that shows it. */
export function throughTmux(text: string): string {
  return `\u001bPtmux;${text.replaceAll("\u001b", "\u001b\u001b")}\u001b\\`;
}
