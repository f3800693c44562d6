/**
 * An object each of whose members is made when it is first read. A program that ends after one step pays only for what that step
 * uses. Copying the object makes all members.
 */
export function madeAtUse<Members extends object>(
  makers: {
    readonly [Name in keyof Members]: () => Members[Name];
  },
): Members {
  const members = {} as Members;
  for (const name of Object.keys(makers) as (keyof Members)[]) {
    Object.defineProperty(members, name, {
      configurable: true,
      enumerable: true,
      get() {
        const value = makers[name]();
        // Later reads find a plain value.
        Object.defineProperty(members, name, { value, enumerable: true });
        return value;
      },
    });
  }
  return members;
}
