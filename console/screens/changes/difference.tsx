type Facts = Readonly<Record<string, unknown>> | null;

/** As many fields as are shown before the rest is folded. */
const SHOWN = 3;

/** What a change did: each field as it was and as it is. */
export function Difference({ before, after }: { readonly before: Facts; readonly after: Facts }) {
  const fields = changedFields(before, after);
  if (fields.length === 0) return <span class="text-soft">–</span>;
  const list = (some: readonly Changed[]) => (
    <ul class="flex flex-col gap-0.5">
      {some.map(({ name, was, is }) => (
        <li key={name} class="wrap-anywhere">
          <span class="text-soft">{name.replaceAll("_", " ")}: </span>
          {was !== undefined && (
            <>
              <del class="text-bad">{was}</del>
              <span aria-hidden="true"> → </span>
            </>
          )}
          {is !== undefined && <ins class="text-good no-underline">{is}</ins>}
        </li>
      ))}
    </ul>
  );
  return (
    <div class="flex max-w-xl min-w-32 flex-col gap-1">
      {list(fields.slice(0, SHOWN))}
      {fields.length > SHOWN && (
        <details>
          <summary class="text-soft">{fields.length - SHOWN} more</summary>
          {list(fields.slice(SHOWN))}
        </details>
      )}
    </div>
  );
}

interface Changed {
  readonly name: string;
  readonly was: string | undefined;
  readonly is: string | undefined;
}

export function changedFields(before: Facts, after: Facts): Changed[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  // What people call it comes before what programs call it.
  const isId = (name: string) => /(?:^|_)id$/.test(name);
  return [...names.filter((name) => !isId(name)), ...names.filter(isId)].flatMap((name) => {
    const [was, is] = [textOf(before?.[name]), textOf(after?.[name])];
    return was === is ? [] : [{ name, was, is }];
  });
}

/** Nothing for what is absent, or is not limited where nothing was before. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
