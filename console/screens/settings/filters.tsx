import { Choice, Field } from "../../parts/field.tsx";
import { setQuery } from "../../shell/router.ts";
import { type Filters as Chosen, FROM, TAKES } from "./list.ts";

interface Props {
  readonly filters: Chosen;
  /** What is typed; the address follows when the reader is done. */
  readonly words: string;
  readonly onWords: (words: string) => void;
}

export function Filters({ filters: { from, takes }, words, onWords }: Props) {
  return (
    <search class="grid grid-cols-2 gap-2 sm:grid-cols-[minmax(0,2fr)_minmax(0,1fr)_minmax(0,1fr)] lg:max-w-5xl">
      <div class="col-span-2 sm:col-span-1">
        <Field
          label="Find"
          type="search"
          placeholder="part of a name, a value, or what it decides"
          isFilter
          value={words}
          onText={onWords}
          onDone={(text) => setQuery({ q: text.trim() })}
        />
      </div>
      <Choice
        label="Given in"
        value={from}
        choices={FROM}
        onChoice={(chosen) => setQuery({ from: chosen })}
      />
      <Choice
        label="Changes take effect"
        value={takes}
        choices={TAKES}
        onChoice={(chosen) => setQuery({ takes: chosen })}
      />
    </search>
  );
}
