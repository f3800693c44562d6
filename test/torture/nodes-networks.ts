import { createDice } from "./dice.ts";

/** Networks of the nodes, each of which can be cut: packets are dropped, and nothing is refused. */
export interface Networks {
  /** Where what all nodes reach listens: the database, receivers of callbacks. */
  readonly hostAddress: string;
  /** What addresses of the nodes' side callbacks may go to. */
  readonly range: string;
  addressOf(node: number): string;
  /** A command that replaces itself with another one, in the node's network. */
  via(node: number): readonly string[];
  cut(node: number): void;
  mend(node: number): void;
  stop(): void;
}

/** An address of the second layer that nobody has. */
const NOBODY = "02:00:00:00:00:01";

/**
 * Gives each node a network namespace of its own, with one bridge between all of them.
 *
 * @returns why that is not possible here, if it is not
 */
export function openNetworks(nodes: number): Networks | { readonly lack: string } {
  if (process.getuid?.() !== 0) return { lack: "only root makes network namespaces" };
  if (Bun.which("ip") === null) return { lack: "there is no ip command" };
  const name = `svcn${process.pid % 100_000}`;
  const subnet = `10.231.${createDice(process.pid, "subnet").between(1, 250)}`;
  const hostAddress = `${subnet}.1`;
  const addressOf = (node: number) => `${subnet}.${10 + node}`;
  const space = (node: number) => `${name}-${node}`;
  const inside = (node: number) => ["-n", space(node)];
  const spaces = Array.from({ length: nodes }, (_, node) => node);
  const stop = () => {
    for (const node of spaces) run(["netns", "delete", space(node)]);
    run(["link", "delete", name]);
  };
  const lack = firstFailure([
    ["link", "add", name, "type", "bridge"],
    ["address", "add", `${hostAddress}/24`, "dev", name],
    ["link", "set", name, "up"],
    ...spaces.flatMap((node) => [
      ["netns", "add", space(node)],
      [
        "link",
        "add",
        `${name}v${node}`,
        "master",
        name,
        "type",
        "veth",
        "peer",
        "name",
        "eth0",
        "netns",
        space(node),
      ],
      ["link", "set", `${name}v${node}`, "up"],
      [...inside(node), "address", "add", `${addressOf(node)}/24`, "dev", "eth0"],
      [...inside(node), "link", "set", "eth0", "up"],
      [...inside(node), "link", "set", "lo", "up"],
    ]),
  ]);
  if (lack !== undefined) {
    stop();
    return { lack };
  }
  return {
    ...{ hostAddress, addressOf, stop, range: `${subnet}.0/24` },
    via: (node) => ["ip", "netns", "exec", space(node)],
    cut(node) {
      // What is sent to it, and by it, has nobody's address: it gets lost, as in a switch that failed.
      run(["neigh", "replace", addressOf(node), "lladdr", NOBODY, "nud", "permanent", "dev", name]);
      run([
        ...inside(node),
        "neigh",
        "replace",
        hostAddress,
        "lladdr",
        NOBODY,
        "nud",
        "permanent",
        "dev",
        "eth0",
      ]);
    },
    mend(node) {
      run(["neigh", "delete", addressOf(node), "dev", name]);
      run([...inside(node), "neigh", "delete", hostAddress, "dev", "eth0"]);
    },
  };
}

function run(command: readonly string[]): { failed: boolean; error: string } {
  const { exitCode, stderr } = Bun.spawnSync(["ip", ...command]);
  return { failed: exitCode !== 0, error: stderr.toString().trim() };
}

function firstFailure(commands: readonly (readonly string[])[]): string | undefined {
  for (const command of commands) {
    const { failed, error } = run(command);
    if (failed) return `ip ${command.join(" ")}: ${error}`;
  }
  return undefined;
}
