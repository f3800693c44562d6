import { describe, expect, test } from "bun:test";
import { fieldText } from "../../../cli/format/field.ts";
import { emptyFolder, svc } from "../support.ts";

const VALUE = {
  id: "a",
  none: null,
  absent: undefined,
  tasks: [
    { task_id: "task_1", tags: ["x", "y"], cost: 0.5 },
    { task_id: "task_2", tags: [], cost: null },
  ],
};

describe("one value of the output", () => {
  test.each([
    ["id", "a\n"],
    ["none", "null\n"],
    ["tasks.1.task_id", "task_2\n"],
    ["tasks.*.task_id", "task_1\ntask_2\n"],
    ["tasks.*.tags.*", "x\ny\n"],
    ["tasks.0", '{"task_id":"task_1","tags":["x","y"],"cost":0.5}\n'],
    ["tasks.0.cost", "0.5\n"],
  ])("%s", (path, text) => {
    expect(fieldText(VALUE, path, false)).toBe(text);
  });

  test.each([
    ["nope", 'there is no "nope"', "There are id, none, tasks."],
    ["absent", 'there is no "absent"', "There are id, none, tasks."],
    ["id.x", 'there is no "x"', 'There is "a".'],
    ["tasks.task_id", 'there is no "task_id"', "There is a list: use 0 to 1, or *."],
    ["tasks.1.tags.0", 'there is no "0"', "There is an empty list."],
    ["constructor", 'there is no "constructor"', "There are id, none, tasks."],
    ["", 'there is no ""', "There are id, none, tasks."],
  ])("is refused where there is none: %s", (path, message, hint) => {
    try {
      fieldText(VALUE, path, false);
      throw new Error("It was found.");
    } catch (error) {
      const { message: said, hint: told } = error as Error & { hint: string };
      expect(said).toContain(message);
      expect(told).toStartWith(hint);
    }
  });

  test("is safe for a terminal, and as it is in a pipe", () => {
    const value = { name: "a\u001b[2Jb" };
    expect(fieldText(value, "name", true)).toBe("a\\u001b[2Jb\n");
    expect(fieldText(value, "name", false)).toBe("a\u001b[2Jb\n");
  });

  test("comes from any command; a wrong path does not lose a secret that is shown once", async () => {
    const cwd = emptyFolder();
    await svc(["migrate"], { cwd });
    const created = await svc(["keys", "create", "--name", "web", "--field", "key"], { cwd });
    expect(created.stdout).toMatch(/^sk-svc-[0-9A-Za-z]{38}\n$/);
    expect((await svc(["keys", "list", "--field", "keys.*.name"], { cwd })).stdout).toBe("web\n");
    const wrong = await svc(["keys", "create", "--name", "other", "--field", "sekret"], { cwd });
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stdout).toBe("");
    expect(wrong.stderr).toMatch(/there is no "sekret".*sk-svc-[0-9A-Za-z]{38}/s);
  });
});
