import {
  Alert,
  Badge,
  Box,
  Button,
  Card,
  ChakraProvider,
  Checkbox,
  Container,
  Flex,
  Heading,
  HStack,
  Input,
  Link,
  Progress,
  SimpleGrid,
  Stack,
  Stat,
  Table,
  Tabs,
  Tag,
  Text,
  VStack,
  defaultSystem,
} from '@chakra-ui/react';
import { rows, type LibraryPage, type Row } from './rows.ts';

function Page({ data }: { data: Row[] }): React.ReactNode {
  return (
    <ChakraProvider value={defaultSystem}>
      <Container maxW="6xl">
        <Flex as="header" justify="space-between" p={4}>
          <Heading size="lg">Orders</Heading>
          <HStack gap={3}>
            <Link href="/">Home</Link>
            <Link href="/orders">Orders</Link>
            <Button size="sm">New</Button>
          </HStack>
        </Flex>
        <Alert.Root status="warning">
          <Alert.Indicator />
          <Alert.Title>Three orders are late</Alert.Title>
        </Alert.Root>
        <SimpleGrid columns={4} gap={4}>
          {data.slice(0, 8).map((row) => (
            <Card.Root key={row.id}>
              <Card.Header>
                <Card.Title>{row.city}</Card.Title>
              </Card.Header>
              <Card.Body>
                <Stat.Root>
                  <Stat.Label>{row.name}</Stat.Label>
                  <Stat.ValueText>{row.amount}</Stat.ValueText>
                </Stat.Root>
                <Progress.Root value={row.id % 100}>
                  <Progress.Track>
                    <Progress.Range />
                  </Progress.Track>
                </Progress.Root>
                <Badge colorPalette={row.open ? 'green' : 'gray'}>{row.open ? 'open' : 'closed'}</Badge>
              </Card.Body>
            </Card.Root>
          ))}
        </SimpleGrid>
        <Tabs.Root defaultValue="day">
          <Tabs.List>
            <Tabs.Trigger value="day">Day</Tabs.Trigger>
            <Tabs.Trigger value="week">Week</Tabs.Trigger>
          </Tabs.List>
          <Tabs.Content value="day">Today</Tabs.Content>
        </Tabs.Root>
        <Table.Root size="sm">
          <Table.Header>
            <Table.Row>
              <Table.ColumnHeader>Name</Table.ColumnHeader>
              <Table.ColumnHeader>City</Table.ColumnHeader>
              <Table.ColumnHeader>Amount</Table.ColumnHeader>
            </Table.Row>
          </Table.Header>
          <Table.Body>
            {data.map((row) => (
              <Table.Row key={row.id}>
                <Table.Cell>{row.name}</Table.Cell>
                <Table.Cell>
                  <Tag.Root>
                    <Tag.Label>{row.city}</Tag.Label>
                  </Tag.Root>
                </Table.Cell>
                <Table.Cell>{row.amount}</Table.Cell>
              </Table.Row>
            ))}
          </Table.Body>
        </Table.Root>
        <Stack mt={4}>
          <Input placeholder="Name" />
          <Checkbox.Root>
            <Checkbox.HiddenInput />
            <Checkbox.Control />
            <Checkbox.Label>Open ones</Checkbox.Label>
          </Checkbox.Root>
          <VStack>
            {data.slice(0, 6).map((row) => (
              <Text key={row.id} color="fg.muted" fontSize="sm">
                {row.name}
              </Text>
            ))}
          </VStack>
          <Box p={2} bg="bg.subtle">
            End
          </Box>
        </Stack>
      </Container>
    </ChakraProvider>
  );
}

const page: LibraryPage<Row[]> = { data: (seed) => rows(seed, 16), element: (data) => <Page data={data} /> };
export const pages = { 'library chakra': page };
