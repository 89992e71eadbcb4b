#!/usr/bin/env ruby
# worker.rb TYPE PAYLOAD COMMAND…: creates a task, claims one of its type and runs the command for it.
#
# A whole client in Ruby's standard library: create with an idempotency key, claim with a lease, a heartbeat while the command
# runs, complete or fail, and what to do when the lease is lost. The command gets the payload on standard input and
# writes the result, which must be JSON, to standard output. ERRAND_URL and ERRAND_TOKEN name the server.
#
# SPDX-License-Identifier: MIT
require 'json'
require 'net/http'
require 'open3'
require 'securerandom'

class LeaseLost < StandardError; end

class Errand
  def initialize(url = ENV.fetch('ERRAND_URL', 'http://127.0.0.1:8001'), token = ENV['ERRAND_TOKEN'])
    @url = URI(url)
    @headers = { 'Content-Type' => 'application/json' }
    @headers['Authorization'] = "Bearer #{token}" if token
  end

  # A server that is away is asked again: creates and ends may be repeated, the key and the lease see to that.
  def post(path, tries: 5, **body)
    answer = Net::HTTP.start(@url.host, @url.port, use_ssl: @url.scheme == 'https', read_timeout: 60) do |http|
      http.post(path, JSON.generate(body), @headers)
    end
    told = JSON.parse(answer.body)
    return told if answer.code.to_i < 300
    raise LeaseLost if answer.code == '409' && told.dig('error', 'code') == 'lease_lost'

    raise "#{answer.code} #{told.dig('error', 'message')}" unless answer.code == '503' && tries > 1

    raise IOError, 'unavailable'
  rescue SystemCallError, IOError, Net::ReadTimeout
    raise if tries <= 1

    sleep 1
    post(path, tries: tries - 1, **body)
  end
end

type, payload, *command = ARGV
lease_ms = Integer(ENV.fetch('LEASE_MS', 60_000))
errand = Errand.new
made = errand.post('/api/tasks', taskType: type, payload: JSON.parse(payload), idempotencyKey: "worker.rb-#{SecureRandom.uuid}")
puts "created #{made['id']}"

claimed = errand.post('/api/claim', workerId: "worker.rb:#{Process.pid}", taskTypes: [type], waitMs: 10_000, leaseMs: lease_ms)
task = claimed['tasks'].first or (puts 'nothing to do'; exit)
path, lease = "/api/tasks/#{task['id']}", task['lease']
puts "claimed #{task['id']}"

begin
  input, output, work = Open3.popen2(*command)
  begin
    input.write(JSON.generate(task['payload']))
    input.close
  rescue Errno::EPIPE # a command need not read its payload
  end
  until work.join(lease_ms / 3000.0) # the work ended, or a third of the lease has passed
    Process.kill('TERM', work.pid) if errand.post("#{path}/heartbeat", lease: lease)['cancelRequested']
  end
  ended = if work.value.success?
            errand.post("#{path}/complete", lease: lease, result: JSON.parse(output.read))
          else
            errand.post("#{path}/fail", lease: lease, error: { code: 'exit', message: "the command ended with #{work.value}" })
          end
  puts "ended #{task['id']} #{ended['state']}"
rescue LeaseLost # somebody else has the task by now: the work is for nothing
  Process.kill('TERM', work.pid) if work.alive?
  puts "lost #{task['id']}"
end
