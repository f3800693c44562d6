import { Choice, Field } from "../../parts/field.tsx";
import { query, setQuery } from "../../shell/router.ts";
import { type Filters, fieldOf, momentOf, NO_FILTERS, STATES } from "./list.ts";

/** What the address says. */
export function filtersNow(isOperator: boolean): Filters {
  const { state = "", task = "", from = "", to = "", account = "", key = "" } = query.value;
  return { ...NO_FILTERS, state, task, from, to, ...(isOperator ? { account, key } : {}) };
}

export function FilterRow({
  filters,
  isOperator,
}: {
  readonly filters: Filters;
  readonly isOperator: boolean;
}) {
  return (
    <search class="grid grid-cols-2 gap-2 md:grid-cols-3 2xl:grid-cols-6 max-[28rem]:*:nth-[n+5]:col-span-2">
      <Choice
        label="State"
        value={filters.state}
        choices={[["", "Every state"], ...STATES.map((state) => [state, state] as const)]}
        onChoice={(state) => setQuery({ state })}
      />
      <Field
        label="Task"
        placeholder="task_…"
        isFilter
        value={filters.task}
        onDone={(task) => setQuery({ task: task.trim() })}
      />
      {isOperator && (
        <>
          <Field
            label="Account"
            placeholder="id or name"
            value={filters.account}
            onDone={(account) => setQuery({ account: account.trim() })}
          />
          <Field
            label="Key"
            placeholder="id or name"
            value={filters.key}
            onDone={(key) => setQuery({ key: key.trim() })}
          />
        </>
      )}
      <Field
        label="From"
        type="datetime-local"
        value={fieldOf(filters.from)}
        onDone={(from) => setQuery({ from: momentOf(from) })}
      />
      <Field
        label="Before"
        type="datetime-local"
        value={fieldOf(filters.to)}
        onDone={(to) => setQuery({ to: momentOf(to) })}
      />
    </search>
  );
}

export function clearFilters(): void {
  setQuery({ ...NO_FILTERS });
}
