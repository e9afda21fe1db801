import {
  Accordion,
  Alert,
  Anchor,
  Avatar,
  Badge,
  Breadcrumbs,
  Button,
  Card,
  Checkbox,
  Container,
  Grid,
  Group,
  List,
  MantineProvider,
  NavLink,
  Pagination,
  Paper,
  Progress,
  Rating,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Stepper,
  Switch,
  Table,
  Tabs,
  Text,
  TextInput,
  Timeline,
  Title,
} from '@mantine/core';
import { rows, type LibraryPage, type Row } from './rows.ts';

function Page({ data }: { data: Row[] }): React.ReactNode {
  return (
    <MantineProvider>
      <Container>
        <Group justify="space-between">
          <Title order={2}>Orders</Title>
          <NavLink label="Home" />
          <Button>New</Button>
        </Group>
        <Breadcrumbs>
          <Anchor href="/">Home</Anchor>
          <Anchor href="/orders">Orders</Anchor>
        </Breadcrumbs>
        <Alert title="Late">Three orders are late</Alert>
        <SimpleGrid cols={4}>
          {data.slice(0, 8).map((row) => (
            <Card key={row.id} shadow="sm">
              <Group>
                <Avatar>{row.city.slice(0, 2)}</Avatar>
                <Text fw={500}>{row.name}</Text>
              </Group>
              <Badge color={row.open ? 'green' : 'gray'}>{row.city}</Badge>
              <Progress value={row.id % 100} />
              <Rating value={3} />
              <Button variant="light">Open</Button>
            </Card>
          ))}
        </SimpleGrid>
        <Stepper active={1}>
          <Stepper.Step label="Paid" />
          <Stepper.Step label="Packed" />
        </Stepper>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th>City</Table.Th>
              <Table.Th>Amount</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.map((row) => (
              <Table.Tr key={row.id}>
                <Table.Td>{row.name}</Table.Td>
                <Table.Td>
                  <Badge>{row.city}</Badge>
                </Table.Td>
                <Table.Td>{row.amount}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        <Tabs defaultValue="day">
          <Tabs.List>
            <Tabs.Tab value="day">Day</Tabs.Tab>
            <Tabs.Tab value="week">Week</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="day">Today</Tabs.Panel>
        </Tabs>
        <Accordion defaultValue="0">
          {data.slice(0, 4).map((row, at) => (
            <Accordion.Item key={row.id} value={String(at)}>
              <Accordion.Control>{row.name}</Accordion.Control>
              <Accordion.Panel>{row.city}</Accordion.Panel>
            </Accordion.Item>
          ))}
        </Accordion>
        <Timeline active={1}>
          {data.slice(0, 5).map((row) => (
            <Timeline.Item key={row.id} title={row.name}>
              {row.city}
            </Timeline.Item>
          ))}
        </Timeline>
        <Grid>
          {data.slice(0, 4).map((row) => (
            <Grid.Col span={3} key={row.id}>
              <Paper p="md">{row.name}</Paper>
            </Grid.Col>
          ))}
        </Grid>
        <Stack>
          <TextInput label="Name" />
          <Checkbox label="Open ones" />
          <Switch label="Live" />
          <SegmentedControl data={['A', 'B']} />
        </Stack>
        <List>
          {data.slice(0, 6).map((row) => (
            <List.Item key={row.id}>{row.name}</List.Item>
          ))}
        </List>
        <Pagination total={10} />
      </Container>
    </MantineProvider>
  );
}

const page: LibraryPage<Row[]> = { data: (seed) => rows(seed), element: (data) => <Page data={data} /> };
export const pages = { 'library mantine': page };
