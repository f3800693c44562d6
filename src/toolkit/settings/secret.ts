/** A credential. Only `reveal` shows it: printed, logged or turned into JSON it is a mask. */
export interface Secret {
  reveal(): string;
}

const MASK = "[secret]";
/** `inspect.custom` of node:util, whose loading would cost every command milliseconds. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

export function createSecret(value: string): Secret {
  return Object.freeze({
    reveal: () => value,
    toString: () => MASK,
    toJSON: () => MASK,
    [INSPECT]: () => MASK,
  });
}
