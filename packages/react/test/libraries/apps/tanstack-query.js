import {
  HydrationBoundary,
  QueryClient,
  QueryClientProvider,
  dehydrate,
  useInfiniteQuery,
  useMutation,
  useQueries,
  useQuery,
  useSuspenseQuery,
} from '@tanstack/react-query';
import { Suspense, createElement as h } from 'react';

function Known() {
  const { data, status } = useQuery({ queryKey: ['known'], queryFn: () => 'never asked' });
  const { isPending } = useMutation({ mutationFn: () => Promise.resolve(1) });
  const several = useQueries({
    queries: [
      { queryKey: ['known'], queryFn: () => 1 },
      { queryKey: ['none'], queryFn: () => 2, enabled: false },
    ],
  });
  return h('p', null, data, status, String(isPending), several.map((each) => each.status).join());
}

function Pages() {
  const { data } = useInfiniteQuery({
    queryKey: ['pages'],
    queryFn: () => [],
    initialPageParam: 0,
    getNextPageParam: () => 1,
    enabled: false,
  });
  return h('i', null, data === undefined ? 'no pages' : 'pages');
}

function Waiting() {
  const { data } = useSuspenseQuery({
    queryKey: ['awaited'],
    queryFn: () => new Promise((resolve) => setImmediate(resolve, 'arrived')),
  });
  return h('b', null, data);
}

export default async function make() {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity, gcTime: Infinity } } });
  const other = new QueryClient();
  await other.prefetchQuery({ queryKey: ['known'], queryFn: () => 'known & <shown>' });
  return h(
    QueryClientProvider,
    { client },
    h(
      HydrationBoundary,
      { state: dehydrate(other) },
      h(Known),
      h(Pages),
      h(Suspense, { fallback: 'waiting' }, h(Waiting)),
    ),
  );
}
