import { isIP } from "node:net";

/** What a name is answered with: addresses, of which each query gets those of its family, behind aliases if there are any. */
export interface Records {
  readonly aliases?: readonly string[];
  readonly addresses: readonly string[];
  /** Only over TCP; over UDP the answer says it is cut. */
  readonly isCut?: boolean;
  /** Of these families, queries get no answer at all. */
  readonly silentFor?: "A" | "AAAA";
}
export type Answer = Records | "silent" | "nxdomain" | "servfail" | "nonsense";

export interface DnsServer extends AsyncDisposable {
  /** `address:port`. */
  readonly address: string;
  /** Each query that came, `A name` or `AAAA name`, in their order. */
  readonly queries: string[];
}

const TYPES: Readonly<Record<number, string>> = { 1: "A", 28: "AAAA" };
const CNAME = 5;
const TTL_SEC = 300;

/**
 * A name server with a script. Each query of a type for a name takes the next of its answers, the last one for ever; names that
 * are not in the script do not exist. Over UDP and TCP.
 */
export async function startDns(
  script: Readonly<Record<string, readonly Answer[]>>,
  where: { hostname: string; port: number } = { hostname: "127.0.0.1", port: 0 },
): Promise<DnsServer> {
  const queries: string[] = [];
  const reply = (query: Buffer, isTcp: boolean): Buffer | undefined => {
    const { name, type, question } = readQuestion(query);
    const asked = `${type} ${name}`;
    const answers = script[name.toLowerCase()] ?? ["nxdomain"];
    // One that is cut is asked again over TCP, which is the same query.
    const count = queries.filter((each) => each === asked).length - (isTcp ? 1 : 0);
    if (!isTcp) queries.push(asked);
    const answer = answers[Math.min(count, answers.length - 1)] ?? "nxdomain";
    return writeReply(query, { name, type, question }, answer, isTcp);
  };
  const openUdp = () =>
    Bun.udpSocket({
      ...where,
      socket: {
        data(socket, data, port, address) {
          const answer = reply(data, false);
          if (answer !== undefined) socket.send(answer, port, address);
        },
      },
    });
  const openTcp = (port: number) =>
    Bun.listen({
      hostname: where.hostname,
      port,
      socket: {
        data(socket, data) {
          // One piece may bring the queries of both families.
          for (let at = 0; at + 2 <= data.length; ) {
            const end = at + 2 + data.readUInt16BE(at);
            const answer = reply(data.subarray(at + 2, end), true);
            if (answer !== undefined) socket.write(Buffer.concat([uint16(answer.length), answer]));
            at = end;
          }
        },
      },
    });
  const { udp, tcp } = await openBoth(openUdp, openTcp);
  return {
    address: `${where.hostname}:${udp.port}`,
    queries,
    [Symbol.asyncDispose]: async () => {
      udp.close();
      tcp.stop(true);
    },
  };
}

/** On one port: the free one that the first is given may be taken for the other. */
async function openBoth<Udp extends { port: number; close(): void }, Tcp>(
  openUdp: () => Promise<Udp>,
  openTcp: (port: number) => Tcp,
): Promise<{ udp: Udp; tcp: Tcp }> {
  for (let tries = 1; ; tries++) {
    const udp = await openUdp();
    try {
      return { udp, tcp: openTcp(udp.port) };
    } catch (error) {
      udp.close();
      if (tries === 50) throw error;
    }
  }
}

interface Question {
  readonly name: string;
  readonly type: string;
  readonly question: Buffer;
}

function readQuestion(query: Buffer): Question {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.subarray(at + 1, at + 1 + length).toString("latin1"));
    at += 1 + length;
  }
  const type = query.readUInt16BE(at + 1);
  return {
    name: labels.join("."),
    type: TYPES[type] ?? String(type),
    question: query.subarray(12, at + 5),
  };
}

function writeReply(
  query: Buffer,
  { name, type, question }: Question,
  answer: Answer,
  isTcp: boolean,
): Buffer | undefined {
  if (answer === "silent") return undefined;
  if (answer === "nonsense") return Buffer.concat([query.subarray(0, 2), Buffer.from("no name server")]);
  if (typeof answer === "string") return message(query, question, [], answer === "nxdomain" ? 3 : 2);
  if (answer.silentFor === type) return undefined;
  const isCut = answer.isCut === true && !isTcp;
  const chain = [name, ...(answer.aliases ?? [])];
  const aliases = chain.slice(1).map((target, index) => record(chain[index] ?? "", CNAME, encoded(target)));
  const family = type === "A" ? 4 : 6;
  const addresses = answer.addresses
    .filter((address) => isIP(address) === family)
    .map((address) => record(chain.at(-1) ?? "", family === 4 ? 1 : 28, addressBytes(address)));
  return message(query, question, isCut ? [] : [...aliases, ...addresses], 0, isCut);
}

function message(
  query: Buffer,
  question: Buffer,
  records: readonly Buffer[],
  code: number,
  isCut = false,
): Buffer {
  const flags = 0x8180 | code | (isCut ? 0x0200 : 0);
  const counts = [flags, 1, records.length, 0, 0].map(uint16);
  return Buffer.concat([query.subarray(0, 2), ...counts, question, ...records]);
}

function record(name: string, type: number, data: Buffer): Buffer {
  const ttl = Buffer.alloc(4);
  ttl.writeUInt32BE(TTL_SEC);
  return Buffer.concat([encoded(name), uint16(type), uint16(1), ttl, uint16(data.length), data]);
}

function encoded(name: string): Buffer {
  const labels = name.split(".").map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`));
  return Buffer.concat([...labels, Buffer.alloc(1)]);
}

/** IPv6 in any of its spellings, with an IPv4 address at its end too. */
function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number));
  const plain = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [before = "", after] = plain.split("::");
  const groups = (text: string) => text.split(":").filter((group) => group !== "");
  const head = groups(before);
  const tail = groups(after ?? "");
  const zeros = Array<string>(8 - head.length - tail.length).fill("0");
  return Buffer.concat([...head, ...zeros, ...tail].map((group) => uint16(Number.parseInt(group, 16))));
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
