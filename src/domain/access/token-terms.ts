import type { GivenTerms, TermTable } from "./term.ts";

/** What a management token may do, with what each scope opens. */
export const SCOPES = {
  read: "read everything: accounts, keys, tasks, callbacks, money, prices, providers and the trail of changes",
  keys: "make, change, rotate and revoke API keys, and suspend and activate accounts",
  money: "make accounts and change their terms, credit and refund, and set prices",
  system: "make and revoke management tokens, and act on tasks, callbacks, routes and providers",
} as const;
export type Scope = keyof typeof SCOPES;

/** In the order in which they are listed. */
export const ALL_SCOPES = Object.keys(SCOPES) as readonly Scope[];

/** What an operator gives for a new management token. Without scopes it gets all scopes of its maker. */
export const TOKEN_TERMS = {
  scopes: {
    kind: "choices",
    among: ALL_SCOPES,
    wire: "scopes",
    description: "What the token may do; absent: all that its maker may",
    flag: "--scopes <list>",
    help: "what it may do: read, keys, money, system, with commas (default: everything)",
    label: "scopes",
  },
  expiresAt: {
    kind: "time",
    wire: "expires_at",
    description: "From when on the token is refused; absent: as its maker",
    unset: { means: "never" },
    flag: "--expires <when>",
    help: "when it expires: 30d, 12h, a date or a time; or never",
    label: "expires",
  },
} as const satisfies TermTable;
export type GivenTokenTerms = GivenTerms<typeof TOKEN_TERMS>;
