import { readDocument } from "../../api/document.ts";
import { useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { TextArea } from "../../parts/text-area.tsx";
import { type LineTexts, unitsIn } from "./price-lines.ts";

interface Props {
  /** From 1. */
  readonly number: number;
  readonly line: LineTexts;
  /** What is wrong, by the service's names of fields. */
  readonly problems: Readonly<Record<string, string>>;
  readonly onChange: (change: Partial<LineTexts>) => void;
  /** Absent for the only line. */
  readonly onRemove: (() => void) | undefined;
}

/** Fields of a line that are a text each. */
const TEXTS = [
  ["amount", "Amount, USD", "0.01"],
  ["per", "Or for so many of them", "1"],
  ["sku", "What is sold", ""],
  ["most", "Held where the request does not tell", "of this unit, per output"],
] as const;

/** A line of a price: what is counted, for how much, and where. */
export function LineFields({ number, line, problems, onChange, onRemove }: Props) {
  const { data: units = [] } = useReading("units of prices", async () => unitsIn(await readDocument()));
  const all = units.includes(line.unit) ? units : [line.unit, ...units];
  const problem = (name: string) => problemOf(problems, `price.lines[${number - 1}].${name}`);
  return (
    <fieldset class="flex min-w-0 flex-col gap-3 rounded-lg border border-line p-3">
      <legend class="px-1 text-sm font-medium">Line {number}</legend>
      <div class="grid grid-cols-1 gap-3 sm:grid-cols-2 lg:grid-cols-3">
        <Choice
          label="Counted in"
          value={line.unit}
          choices={all.map((unit) => [unit, unit.replaceAll("_", " ")] as const)}
          problem={problem("unit")}
          onChoice={(unit) => onChange({ unit })}
        />
        {TEXTS.map(([name, label, placeholder]) => (
          <Field
            key={name}
            label={label}
            value={line[name]}
            autocomplete="off"
            placeholder={placeholder}
            problem={problem(name)}
            onText={(text) => onChange({ [name]: text })}
          />
        ))}
        <TextArea
          label="Only where"
          rows={2}
          value={line.when}
          placeholder={"resolution = 1080p, 4k\nmode = text-to-image"}
          hint="A condition a line. Empty: always."
          problem={problem("when")}
          onText={(when) => onChange({ when })}
        />
      </div>
      {onRemove !== undefined && (
        <div>
          <Button aria-label={`Remove line ${number}`} onClick={onRemove}>
            Remove this line
          </Button>
        </div>
      )}
    </fieldset>
  );
}

/** The service names a part of a condition as `price.lines[0].when.resolution`. */
function problemOf(problems: Props["problems"], field: string): string | undefined {
  return Object.entries(problems).find(([param]) => param === field || param.startsWith(`${field}.`))?.[1];
}
