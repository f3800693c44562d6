import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Money, moneyText } from "../../parts/money.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { may } from "../../shell/scopes.ts";
import { say } from "../../shell/toasts.tsx";
import { PriceForm } from "./price-form.tsx";
import { conditionText, lineText } from "./price-lines.ts";
import type { Model, Price, PriceLine } from "./read.ts";

interface Props {
  readonly model: Model;
  readonly price: Price;
  readonly onChange: (price: Price) => void;
}

/** The price in force, where it comes from, and another one in its place. */
export function PriceOf({ model, price, onChange }: Props) {
  const [isResetting, setResetting] = useState(false);
  const { unpriced, price: rule } = price;
  return (
    <div class="flex min-w-0 flex-col gap-3">
      <p class="wrap-anywhere text-soft">
        <Source price={price} />
      </p>
      {unpriced !== null && (
        <p role="status" class="rounded-lg border border-warn p-3 text-warn">
          No line counts for a request where {conditionText(unpriced)}: such a request is refused.
        </p>
      )}
      <PriceTable rule={rule} />
      {may("money") && (
        <>
          <PriceForm model={model} price={price} onChange={onChange} />
          {price.source === "set" && (
            <div>
              <Button look="danger" onClick={() => setResetting(true)}>
                Remove this price
              </Button>
            </div>
          )}
        </>
      )}
      {isResetting && <Reset price={price} onClose={() => setResetting(false)} onChange={onChange} />}
    </div>
  );
}

function Source({ price: { source, set_at: at, reason } }: { readonly price: Price }) {
  if (source === "built_in") return <>It is the model's own.</>;
  if (source === "settings") return <>It comes from svc.yaml.</>;
  return (
    <>
      It was set <Time at={at} />
      {reason !== null && reason !== "" && (
        <>
          : <bdi>{reason}</bdi>
        </>
      )}
      .
    </>
  );
}

/** A price rule, line by line. */
function PriceTable({ rule }: { readonly rule: Price["price"] }) {
  return (
    <>
      <Table
        label="Price"
        columns={COLUMNS}
        rows={rule.lines.map((line, i) => ({ line, key: String(i) }))}
        keyOf={({ key }) => key}
      />
      {rule.minimum !== undefined && (
        <p class="text-soft">
          A task that delivers anything costs <Money amount={rule.minimum} /> at least.
        </p>
      )}
    </>
  );
}

interface Row {
  readonly line: PriceLine;
  readonly key: string;
}

const COLUMNS: readonly Column<Row>[] = [
  {
    title: "What",
    cell: ({ line: { sku } }) => <span class="block min-w-20 wrap-anywhere">{sku}</span>,
  },
  {
    title: "Price",
    cell: ({ line }) => <span class="whitespace-nowrap tabular-nums">{lineText(line)}</span>,
  },
  {
    title: "Where",
    cell: ({ line: { when, most } }) => (
      <span class="block min-w-28 wrap-anywhere">
        {conditionText(when) || <span class="text-soft">always</span>}
        {most !== undefined && <span class="text-soft"> · {most} held where the request does not tell</span>}
      </span>
    ),
  },
];

interface ResetProps extends Pick<Props, "price" | "onChange"> {
  readonly onClose: () => void;
}

function Reset({ price: { model }, onClose, onChange }: ResetProps) {
  const reset = async () => {
    const { was_set: _, ...after } = await ask("POST /admin/v1/pricing/{model}/reset", { path: { model } });
    onChange(after);
    const [line] = after.price.lines;
    say(`The price of ${model} is as before${line === undefined ? "" : `: ${moneyText(line.amount)}`}.`);
    onClose();
  };
  return (
    <Confirm
      title={`Remove the price of ${model}?`}
      action="Remove this price"
      onYes={reset}
      onClose={onClose}
    >
      <p>
        The price of svc.yaml is in force again, or else the model's own, from the next request on. Tasks that
        were accepted keep the price they were accepted at.
      </p>
    </Confirm>
  );
}
