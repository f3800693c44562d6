import { moveToPostgres, moveToSqlite } from "../../../src/store/move/open.ts";

// Moves, and prints a line after each slice: whoever started it may kill it.
const [way, from = "", to = ""] = process.argv.slice(2);
const moving = way === "there" ? moveToPostgres : moveToSqlite;
await moving({ from, to, tell: ({ table }) => void process.stdout.write(`${table}\n`) });
