import { ask } from "../api/ask.ts";
import type { Schemas } from "../api/published.d.ts";
import { Choice, Field } from "./field.tsx";

type Account = Schemas["Account"];

interface Props {
  readonly accounts: readonly Account[];
  /** Id or name. */
  readonly value: string;
  /** What stands before the accounts. */
  readonly first?: readonly (readonly [value: string, name: string])[];
  readonly nameOf?: (account: Account) => string;
  readonly hidesLabel?: boolean;
  readonly hint?: string;
  readonly problem?: string | undefined;
  readonly onChoice: (account: string) => void;
}

/** As many as one chooses from: of more, browsers take seconds to make the list, at each letter that is typed beside it. */
export const MOST_CHOICES = 500;

/** As many accounts as a choice has to know of. @throws ApiProblem */
export async function accountsToChoose(signal?: AbortSignal): Promise<readonly Account[]> {
  return (await ask("GET /admin/v1/accounts", { query: { limit: MOST_CHOICES + 1 } }, { signal })).accounts;
}

/** One of the accounts; where they are many, its id or name is typed. */
export function AccountChoice({ accounts, value, first = [], nameOf, onChoice, ...about }: Props) {
  const known = accounts.find(({ id, name }) => value === id || value === name);
  if (accounts.length > MOST_CHOICES)
    return (
      <Field
        label="Account"
        placeholder={`${first[0]?.[1] ?? "Account"}: id or name`}
        value={known?.name ?? value}
        onDone={(text) => onChoice(text.trim())}
        {...about}
      />
    );
  const isOther = known === undefined && value !== "";
  return (
    <Choice
      label="Account"
      value={known?.id ?? value}
      choices={[
        ...first,
        ...(isOther ? [[value, value] as const] : []),
        ...accounts.map((account) => [account.id, nameOf?.(account) ?? account.name] as const),
      ]}
      onChoice={onChoice}
      {...about}
    />
  );
}
