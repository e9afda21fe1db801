// GraphQL Yoga with a subscription, which it sends as server-sent events.
import { createServer } from 'node:http';
import { createSchema, createYoga } from 'graphql-yoga';

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const yoga = createYoga({
  schema: createSchema({
    typeDefs: /* GraphQL */ `
      type Query {
        hello(name: String!): String!
      }
      type Subscription {
        countdown(from: Int!): Int!
      }
    `,
    resolvers: {
      Query: { hello: (_parent, { name }) => `Hello, ${name}` },
      Subscription: {
        countdown: {
          subscribe: async function* (_parent, { from }) {
            for (let left = from; left >= 0; left--) {
              yield { countdown: left };
              await wait(300);
            }
          },
        },
      },
    },
  }),
});
const server = createServer(yoga);
server.listen(process.env.PORT ?? 4000, () => console.log('Running a GraphQL API server at /graphql'));
