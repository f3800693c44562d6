/** Makes a value at the first call and returns it at all later calls. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Makes a value from an object at the first call, and again only for another object. */
export function ofLatest<Source extends object, Value>(
  make: (source: Source) => Value,
): (source: Source) => Value {
  let made: { readonly source: Source; readonly value: Value } | undefined;
  return (source) => {
    if (made?.source !== source) made = { source, value: make(source) };
    return made.value;
  };
}
