// Apollo Server, as its documentation has it, with Express and the plugin that drains it.
import http from 'node:http';
import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginDrainHttpServer } from '@apollo/server/plugin/drainHttpServer';
import { expressMiddleware } from '@as-integrations/express5';
import express from 'express';

const books = [{ title: 'The Awakening', author: 'Kate Chopin' }];

const typeDefs = `#graphql
  type Book { title: String! author: String! }
  type Query { books: [Book!]! slow(ms: Int!): Int! }
  type Mutation { addBook(title: String!, author: String!): Book! }
`;
const resolvers = {
  Query: {
    books: () => books,
    slow: (_parent, { ms }) => new Promise((resolve) => setTimeout(() => resolve(ms), ms)),
  },
  Mutation: { addBook: (_parent, book) => ({ ...book, title: book.title.trim() }) },
};

const app = express();
const httpServer = http.createServer(app);
const server = new ApolloServer({
  typeDefs,
  resolvers,
  plugins: [ApolloServerPluginDrainHttpServer({ httpServer })],
});
await server.start();
app.use('/', express.json(), expressMiddleware(server));
await new Promise((resolve) => httpServer.listen({ port: process.env.PORT ?? 4000 }, resolve));
console.log('Server ready');
