import { track } from "../run/process.ts";
import type { Service } from "../run/service.ts";

const TASKS_PER_PAGE = 100;

/** Lists all tasks, has the books audited by another process, and reads a report of usage, each again as soon as it is done. */
export function readOverAndOver({ port, folder }: Service, token: string) {
  const headers = { Authorization: `Bearer ${token}` };
  let isOver = false;
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as { data: { next?: string | null } };
  };
  let after: string | null | undefined;
  const listPage = async () => {
    const rest = after ? `&after=${after}` : "";
    const { data } = await ask(`/admin/v1/tasks?limit=${TASKS_PER_PAGE}${rest}`);
    after = data.next;
  };
  const audit = async () => {
    const command = [folder.build.executable, "audit", "--data-dir", folder.path, "--field", "adds_up"];
    const child = track(Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "inherit" }));
    const text = await child.stdout.text();
    if ((await child.exited) !== 0 || text.trim() !== "true") throw new Error(`The audit said: ${text}`);
  };
  const usage = async () => void (await ask("/admin/v1/usage?by=provider,day"));
  const over = async (name: string, read: () => Promise<void>) => {
    let times = 0;
    for (; !isOver; times++) await read();
    return `${times} ${name}`;
  };
  const all = Promise.all([
    over("pages of tasks", listPage),
    over("audits", audit),
    over("reports of usage", usage),
  ]);
  // `stop` tells.
  all.catch(() => undefined);
  return {
    /** Waits for what is being read. @returns what was read; throws Error when something could not be */
    async stop(): Promise<string> {
      isOver = true;
      return (await all).join(", ");
    },
  };
}
