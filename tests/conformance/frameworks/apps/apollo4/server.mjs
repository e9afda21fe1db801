// Apollo Server, as its documentation has it, standalone.
import { ApolloServer } from '@apollo/server4';
import { startStandaloneServer } from '@apollo/server4/standalone';

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

const server = new ApolloServer({ typeDefs, resolvers });
const { url } = await startStandaloneServer(server, { listen: { port: Number(process.env.PORT ?? 4000) } });
console.log(`Server ready at ${url}`);
