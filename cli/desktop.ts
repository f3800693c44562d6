import type { Context } from "./context.ts";
import type { Output } from "./format/output.ts";

/** What opens files and addresses, by platform. Called without a shell: nothing in a name is a command. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};
const OTHERS = ["xdg-open"];
/** Programs that open files hand over and end. One that is still running has found something to open with. */
const HANDS_OVER_MS = 1_500;

/**
 * Opens a file or a web address with the desktop's program for it. A machine without one gets a warning; the command has done
 * its work.
 *
 * @param target an absolute path, or an address that begins with http
 */
export async function openOnDesktop(
  target: string,
  { env }: Pick<Context, "env">,
  output: Output,
): Promise<void> {
  const [program = "", ...args] = OPENERS[process.platform] ?? OTHERS;
  const found = Bun.which(program, { PATH: env.PATH ?? "" });
  if (found === null) {
    output.warn(`Cannot open ${target}: there is no ${program} here.`);
    return;
  }
  const child = Bun.spawn([found, ...args, target], {
    env: { ...env },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  child.unref();
  const exitCode = await Promise.race([child.exited, Bun.sleep(HANDS_OVER_MS)]);
  if (typeof exitCode === "number" && exitCode !== 0)
    output.warn(`${program} could not open ${target}; it ended with exit code ${exitCode}.`);
}
