import type { ComponentChildren } from "preact";
import { Button } from "../../parts/button.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Money } from "../../parts/money.tsx";
import { Status } from "../../parts/status.tsx";
import { WayState } from "../../parts/way-state.tsx";
import { may } from "../../shell/scopes.ts";
import { addAmounts } from "../account/amount.ts";
import { type Asked, type Known, type ProviderAccount, stateOf, type Tested, type Way } from "./read.ts";
import { TestResult } from "./test-result.tsx";

interface Props {
  readonly known: Known;
  readonly tested: readonly Tested[];
  readonly onAsk: (asked: Asked) => void;
}

/** The accounts that are switched on, each with what it does and what can be done about it. */
export function Accounts({ known: { provider, ways }, tested, onAsk }: Props) {
  return (
    <ul class="grid grid-cols-1 gap-4 xl:grid-cols-2">
      {provider.accounts.map((account) => (
        <li key={account.lane} class="flex min-w-0 flex-col gap-3 rounded-xl border border-line bg-card p-4">
          <OneAccount
            account={account}
            ways={ways.filter(({ lane }) => lane === account.lane)}
            tested={tested.find(({ lane }) => lane === account.lane)}
            actions={
              may("system") && <Actions provider={provider.id} account={account} ways={ways} onAsk={onAsk} />
            }
          />
        </li>
      ))}
    </ul>
  );
}

const KEYS: Readonly<Record<string, string>> = {
  settings: "in a variable, or a file that svc.yaml names",
  kept: "kept sealed in the data folder",
  none: "none is needed",
};

interface AccountProps {
  readonly account: ProviderAccount;
  readonly ways: readonly Way[];
  readonly tested: Tested | undefined;
  readonly actions: ComponentChildren;
}

function OneAccount({ account, ways, tested, actions }: AccountProps) {
  const { name, region, base_url: address, key_from: place } = account;
  const [way] = ways;
  const rates = ways.flatMap(({ per_minute: rate }) => rate ?? []);
  return (
    <>
      <h3 class="font-semibold">{name}</h3>
      <AccountState ways={ways} />
      <Facts
        facts={[
          ["Key", KEYS[place] ?? place],
          ["Under way", way === undefined ? undefined : underWayText(way)],
          ["Rate", rates.length === 0 ? "not limited" : `${Math.min(...rates)} submissions a minute`],
          ["Region", region],
          ["Address", address],
          [
            "Spent today (UTC)",
            <Money
              key="spent"
              amount={ways.reduce((sum, { spent_today }) => addAmounts(sum, spent_today), "0.000000")}
            />,
          ],
        ]}
      />
      <div role="status">{tested !== undefined && <TestResult tested={tested} />}</div>
      {actions}
    </>
  );
}

function AccountState({ ways }: { readonly ways: readonly Way[] }) {
  const state = stateOf(ways);
  const [way] = ways;
  if (way === undefined) return <Status word="no model takes it" tone="idle" />;
  if (state === "partly") return <Status word="some models are kept from it" tone="warn" />;
  return <WayState standing={way} />;
}

function underWayText({ under_way, concurrency }: Way): string {
  return concurrency === undefined ? String(under_way) : `${under_way} of at most ${concurrency}`;
}

interface ActionProps extends Pick<Props, "onAsk"> {
  readonly provider: string;
  readonly account: ProviderAccount;
  /** Of all accounts. */
  readonly ways: readonly Way[];
}

function Actions({ provider, account: { name, lane, key_from: place }, ways, onAsk }: ActionProps) {
  const own = ways.filter((way) => way.lane === lane);
  const target = { provider, account: name };
  const canBlock = own.some(({ state }) => state !== "blocked");
  const isKnown = own.some(({ state }) => state !== "closed");
  return (
    <div class="mt-auto flex flex-wrap gap-2">
      {isKnown && (
        <Button aria-label={`Allow ${name}`} onClick={() => onAsk({ do: "allow", target })}>
          Allow
        </Button>
      )}
      {canBlock && (
        <Button aria-label={`Block ${name}`} onClick={() => onAsk({ do: "block", target })}>
          Block
        </Button>
      )}
      {place === "kept" && (
        <>
          <Button
            aria-label={`Replace the key of ${name}`}
            onClick={() => onAsk({ do: "add", account: name })}
          >
            Replace the key
          </Button>
          <Button
            look="danger"
            aria-label={`Remove the key of ${name}`}
            onClick={() => onAsk({ do: "remove", account: name })}
          >
            Remove the key
          </Button>
        </>
      )}
    </div>
  );
}
