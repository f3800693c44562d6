export const EXAMPLES = `
Examples:
  svc pricing set sandbox-image --per-output 0.012000 --reason "from December on"
  svc pricing set sandbox-video --per-second 0.030000 --minimum 0.100000
  svc pricing show veo3 --json | jq .price > veo3.json     # change it, and then:
  svc pricing set veo3 --rule veo3.json

A price that is set goes before \`pricing\` in svc.yaml, which goes before the built-in one. A running server
follows within a second; tasks it has accepted keep the price they were accepted at.
`;
