import { Choice, Field } from "../../parts/field.tsx";
import { query, setQuery } from "../../shell/router.ts";
import type { Filters } from "./list.ts";

/** The filters that the address has. */
export function filtersNow(): Filters {
  const {
    q = "",
    status = "",
    kind = "",
    model = "",
    day = "",
    cost = "",
    key = "",
    account = "",
  } = query.value;
  return { q, status, kind, model, day, cost, key, account };
}

/** Shows everything again. */
export function clearFilters(): void {
  setQuery({ ...NO_FILTERS });
}

export const NO_FILTERS: Filters = {
  ...{ q: "", status: "", kind: "", model: "" },
  ...{ day: "", cost: "", key: "", account: "" },
};

const STATUSES = [
  ["", "Completed"],
  ["processing", "processing"],
  ["pending", "pending"],
  ["failed", "failed"],
  ["cancelled", "cancelled"],
  ["any", "Every status"],
] as const;
const KINDS = [
  ["", "Every kind"],
  ["image", "Images"],
  ["video", "Videos"],
] as const;

export function FilterRow({
  filters,
  isOperator,
}: {
  readonly filters: Filters;
  readonly isOperator: boolean;
}) {
  const text = (name: keyof Filters, label: string) => (
    <Field
      label={label}
      hidesLabel
      placeholder={label}
      value={filters[name]}
      onDone={(value) => setQuery({ [name]: value.trim() })}
    />
  );
  const { q, status, kind, day, cost } = filters;
  return (
    <search class="grid max-w-[106rem] grid-cols-2 gap-2 sm:grid-cols-3 xl:grid-cols-7">
      <div class="col-span-2 sm:col-span-3 xl:col-span-2">
        <Field
          label="Words of the prompt"
          hidesLabel
          type="search"
          placeholder="Search prompts"
          isFilter
          value={q}
          onDone={(value) => setQuery({ q: value.trim() })}
        />
      </div>
      <Choice
        label="Status"
        hidesLabel
        value={status}
        choices={STATUSES}
        onChoice={(value) => setQuery({ status: value })}
      />
      <Choice
        label="Kind"
        hidesLabel
        value={kind}
        choices={KINDS}
        onChoice={(value) => setQuery({ kind: value })}
      />
      {text("model", "Model")}
      <Field label="Day" hidesLabel type="date" value={day} onDone={(value) => setQuery({ day: value })} />
      <Field
        label="Least cost in dollars"
        hidesLabel
        placeholder="Cost from, $"
        value={cost}
        problem={cost === "" || /^\d*\.?\d+$/.test(cost) ? undefined : "An amount, such as 0.05"}
        onDone={(value) => setQuery({ cost: value.trim().replace(",", ".") })}
      />
      {isOperator && text("key", "Key")}
      {isOperator && text("account", "Account")}
    </search>
  );
}
