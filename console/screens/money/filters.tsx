import type { Role } from "../../api/session.ts";
import { useReading } from "../../api/use.ts";
import { AccountChoice, accountsToChoose } from "../../parts/account-choice.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { setQuery } from "../../shell/router.ts";
import { type Asked, dayOrNone, daysAgo, GROUPS } from "./figures.ts";

const PERIODS = [
  ["7", "Last 7 days"],
  ["31", "Last 31 days"],
  ["90", "Last 90 days"],
  ["365", "Last 365 days"],
] as const;
const OWN = "own";

/** Which days, by what, and whose. */
export function Filters({ role, asked }: { readonly role: Role; readonly asked: Asked }) {
  const { by, days, since, until } = asked;
  const known = PERIODS.some(([count]) => count === days);
  const choose = (period: string) =>
    setQuery(
      period === OWN
        ? { days: "", since: daysAgo(30), until: daysAgo(0) }
        : { days: period, since: "", until: "" },
    );
  return (
    <search class="grid grid-cols-2 gap-2 sm:grid-cols-3 lg:max-w-5xl lg:grid-cols-5">
      <Choice
        label="Period"
        value={days === "" ? OWN : days}
        choices={[
          ...PERIODS,
          ...(known || days === "" ? [] : [[days, days === "1" ? "Today" : `Last ${days} days`] as const]),
          [OWN, "From, to"],
        ]}
        onChoice={choose}
      />
      {days === "" && (
        <>
          <Field
            label="From (UTC)"
            type="date"
            value={dayOrNone(since)}
            onDone={(day) => setQuery({ since: day })}
          />
          <Field
            label="To (UTC)"
            type="date"
            value={dayOrNone(until)}
            onDone={(day) => setQuery({ until: day })}
          />
        </>
      )}
      <Choice
        label="By"
        value={by}
        choices={GROUPS[role].map((group) => [group, group] as const)}
        onChoice={(group) => setQuery({ by: group })}
      />
      {role === "operator" && <Account value={asked.account} />}
    </search>
  );
}

function Account({ value }: { readonly value: string }) {
  const { data } = useReading("accounts to choose", accountsToChoose);
  return (
    <AccountChoice
      accounts={data ?? []}
      value={value}
      first={[["", "Every account"]]}
      onChoice={(account) => setQuery({ account })}
    />
  );
}
